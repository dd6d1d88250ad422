#!/usr/bin/env node
// The `tunerank` command: reads the command line, runs one command, tells its outcome by the exit code.
import { parseArgs } from "node:util";
import { version } from "../generated/version.js";
import { commands, optionsOf } from "./commands.js";
import { UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { reportFailure } from "./failure.js";
import { commandHelp, generalHelp } from "./help.js";
import { outputError, surviveOutputErrors } from "./output.js";
import { createTerminal, type Terminal } from "./terminal.js";

const [first, ...rest] = process.argv.slice(2);
surviveOutputErrors();
process.exitCode = await main(first, rest);
// Standard input may still be open; nobody reads it any more.
process.stdin.unref?.();

async function main(name: string | undefined, args: string[]): Promise<number> {
  // Known before anything else can fail, so that a failure is told in the form that was asked for.
  const terminal = createTerminal({
    json: args.includes("--json"),
    quiet: args.includes("--quiet") || args.includes("-q"),
    "no-color": args.includes("--no-color"),
  });
  const controller = new AbortController();
  const stop = (): void => {
    // Whoever asks twice does not want to wait for an explanation.
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    await run(name, args, terminal, controller.signal);
    const lost = await outputError();
    if (lost !== undefined) throw new Error(`The result cannot be written: ${lost.message}`);
    return exitCodes.success;
  } catch (error) {
    return reportFailure(error, terminal, name);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

async function run(
  name: string | undefined,
  args: string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (name === "--version" || name === "-v") {
    terminal.print(version);
    return;
  }
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    terminal.print(help(args[0], terminal));
    return;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw noSuchCommand();
  const { values, positionals } = parse(name, args);
  if (values.help) {
    terminal.print(commandHelp(name, terminal));
    return;
  }
  const required = command.positionals.filter((each) => !each.startsWith("["));
  const missing = required[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (positionals.length > command.positionals.length) {
    throw new UsageError(`Too many arguments: ${name} takes ${command.positionals.join(" ") || "none"}.`);
  }
  const { run } = await command.load();
  await run({ operation: command.operation, values, positionals, terminal, signal });
}

function parse(
  name: string,
  args: string[],
): Pick<ReturnType<typeof parseArgs>, "positionals"> & { values: Values } {
  if (args.some((arg) => /^--?(api-?)?key(=|$)/.test(arg))) {
    throw new UsageError(
      "A key is never taken from an argument, where others can read it: set TUNERANK_API_KEY or use --api-key-file FILE.",
    );
  }
  const options = Object.fromEntries(
    Object.entries(optionsOf(name)).map(([option, { type, short }]) => [
      option,
      { type, ...(short && { short }) },
    ]),
  );
  try {
    return parseArgs({ args, options, allowPositionals: true }) as { positionals: string[]; values: Values };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Only what reads like the name of an option is repeated: the rest may be a key.
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" && !/^Unknown option '--?[a-z-]{1,20}'/.test(message)) {
      throw new UsageError("An option is unknown.");
    }
    throw new UsageError(message.split(". To specify")[0]);
  }
}

function noSuchCommand(): UsageError {
  const names = Object.keys(commands).join(", ");
  return new UsageError(`There is no such command. The commands are ${names} and help.`);
}

type Values = Record<string, string | boolean | undefined>;

function help(name: string | undefined, terminal: Terminal): string {
  if (name === undefined || name.startsWith("-")) return generalHelp(terminal);
  if (!Object.hasOwn(commands, name)) throw noSuchCommand();
  return commandHelp(name, terminal);
}

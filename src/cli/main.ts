#!/usr/bin/env node
// The `tunerank` command: reads the command line, runs one command, tells its outcome by the exit code.
import { parseArgs } from "node:util";
import { version } from "../generated/version.js";
import { commands, optionsOf } from "./commands.js";
import { UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { reportFailure } from "./failure.js";
import { commandHelp, generalHelp } from "./help.js";
import { createTerminal, type Terminal } from "./terminal.js";

const [first, ...rest] = process.argv.slice(2);
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(exitCodes.success);
});
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
  if (command === undefined) throw new UsageError(`There is no command ${JSON.stringify(name)}.`);
  const { values, positionals } = parse(name, args);
  if (values.help) {
    terminal.print(commandHelp(name, terminal));
    return;
  }
  const required = command.positionals.filter((each) => !each.startsWith("["));
  const missing = required[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = positionals[command.positionals.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many.`);
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
    throw new UsageError((error as Error).message.split(". To specify")[0]);
  }
}

type Values = Record<string, string | boolean | undefined>;

function help(name: string | undefined, terminal: Terminal): string {
  if (name === undefined || name.startsWith("-")) return generalHelp(terminal);
  if (!Object.hasOwn(commands, name)) throw new UsageError(`There is no command ${JSON.stringify(name)}.`);
  return commandHelp(name, terminal);
}

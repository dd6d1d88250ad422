// The `tunerank` program: parses the command line, runs one command, and returns the exit code.
import { type Command, CommanderError } from "commander";
import { version } from "../generated/version.js";
import { type Context, type ServiceOptions, UsageError } from "./context.js";
import { setEnvironment } from "./environment.js";
import { exitCodeOfSignal, exitCodes } from "./exitCodes.js";
import { setUpHelp } from "./help.js";
import { formerOptions } from "./options.js";
import { createProgram } from "./program.js";
import { createTerminal } from "./terminal.js";

// Loads the module of a command when that command is run.
const commands: Readonly<Record<string, () => Promise<{ run(context: Context): Promise<void> }>>> = {
  rerank: () => import("./rerankCommand.js"),
  bulk: () => import("./bulkCommand.js"),
  upload: () => import("./uploadCommand.js"),
  check: () => import("./checkCommand.js"),
  scale: async () => ({ run: (await import("./resourceCommands.js")).scale }),
  resume: async () => ({ run: (await import("./resourceCommands.js")).resume }),
  mcp: () => import("./mcpCommand.js"),
  request: () => import("./requestCommand.js"),
  mock: () => import("./mockCommand.js"),
  conformance: () => import("./conformanceCommand.js"),
  skill: () => import("./skillCommand.js"),
  completion: () => import("./completionCommand.js"),
  version: async () => ({ run: async ({ terminal }) => terminal.result({ version }, version) }),
};

// Commands that load no client, to start fast.
const withoutClient = new Set(["completion", "skill", "version"]);
const signals = Object.keys(exitCodeOfSignal) as (keyof typeof exitCodeOfSignal)[];
const longestGraceMs = 8000;

/** Runs the command that the arguments name. @returns The exit code */
export async function main(args: readonly string[]): Promise<number> {
  // Without a listener, an error of stdout or stderr would end the process in the middle of a call.
  let lost: Error | undefined;
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A program that reads a pipe, such as `head`, may close it when it has seen enough: that is no failure.
    if (error.code !== "EPIPE") lost ??= error;
  });
  // Created before anything can fail, so that every failure is reported in the form that the options ask for.
  const terminal = createTerminal({
    json: args.includes("--json"),
    quiet: args.includes("--quiet") || args.includes("-q"),
    color: !args.includes("--no-color"),
  });
  const program = createProgram();
  const ordered = commandFirst(program, args);
  const [stop, end] = [new AbortController(), new AbortController()];
  let graceMs = 0;
  let interrupted: number = exitCodes.interrupted;
  const onSignal = (signal: keyof typeof exitCodeOfSignal): void => {
    interrupted = exitCodeOfSignal[signal];
    // A second signal ends the process at once.
    if (stop.signal.aborted) process.exit(interrupted);
    stop.abort();
    if (graceMs === 0) end.abort();
    else setTimeout(() => end.abort(), graceMs).unref();
  };
  const grace = (): AbortSignal => {
    graceMs = longestGraceMs;
    return stop.signal;
  };
  for (const signal of signals) process.on(signal, onSignal);
  setUpHelp(program, terminal);
  for (const command of program.commands) {
    command.action(async () => {
      const name = command.name();
      const options: ServiceOptions = command.opts();
      const context = { options, args: command.args, program, terminal, signal: end.signal, grace };
      try {
        if (options.debug === true) process.env.TUNERANK_LOG = "debug";
        if (options.envFile !== undefined) await setEnvironment(options.envFile);
        if (!withoutClient.has(name)) await hideKey();
        const loaded = await commands[name]?.();
        if (loaded && options.dryRun === true)
          await (await import("./dryRun.js")).dryRun(context, loaded.run);
        else await loaded?.run(context);
      } finally {
        // An open standard input must not keep the process alive. `--help` never gets here, and so never opens it.
        process.stdin.unref?.();
      }
    });
  }
  const hideKey = async (): Promise<void> => {
    if (process.env.TUNERANK_API_KEY) await terminal.hide(process.env.TUNERANK_API_KEY);
  };
  try {
    await parse(program, ordered);
    // Output that was not accepted, such as on a full disk, is known only now.
    await new Promise((resolve) => process.stdout.write("", resolve));
    if (lost !== undefined) throw new Error(`The result cannot be written: ${lost.message}`);
    return exitCodes.success;
  } catch (error) {
    const [name = ""] = ordered;
    await hideKey();
    const { reportFailure } = await import("./reportFailure.js");
    const exitCode = reportFailure(error, terminal, Object.hasOwn(commands, name) ? name : undefined);
    return exitCode === exitCodes.interrupted ? interrupted : exitCode;
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

// Moves options that stand before the command behind it, where Commander looks for them.
function commandFirst(program: Command, args: readonly string[]): readonly string[] {
  const options = program.commands.flatMap((each) => each.options);
  const takesValue = (arg = ""): boolean =>
    options.some(({ long, short, required }) => required && (arg === long || arg === short));
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && !takesValue(args[index - 1]));
  return at <= 0 ? args : [`${args[at]}`, ...args.slice(0, at), ...args.slice(at + 1)];
}

// Runs the command that the arguments name, or shows help or the version.
async function parse(program: Command, args: readonly string[]): Promise<void> {
  const [name = "", ...rest] = args;
  const command = program.commands.find((each) => each.name() === name);
  if (args.some((arg) => /^--?(api-?)?key(=|$)/.test(arg)))
    throw new UsageError(
      "A key cannot be an argument, because other users could read it: set TUNERANK_API_KEY or use --api-key-file FILE.",
    );
  const given = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : rest.length);
  const former = Object.entries((command && formerOptions[name]) ?? {}).find(([option]) =>
    given.some((arg) => arg.split("=")[0] === option),
  );
  if (former !== undefined) throw new UsageError(`\`${name} ${former[0]}\` ${former[1]}`);
  // Commander would use an option as the value of the option before it. A negative number passes: its check names it.
  const open = given.find((arg, index) => {
    const option = command?.options.find(({ long, short }) => arg === long || arg === short);
    return option?.required && /^-[^\d.]/.test(given[index + 1] ?? "");
  });
  if (open !== undefined)
    throw new UsageError(`${open} has no value. One that starts with a dash is written ${open}=VALUE.`);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander throws an error with exit code 0 after it shows help or the version.
    if (error.exitCode !== 0) throw new UsageError(reasonOf(error, command));
  }
}

// The reason in an error of Commander, without the unknown argument that its message quotes, which may be an API key.
// The suggestion is kept, because it names only commands and options.
function reasonOf({ code, message }: CommanderError, command: Command | undefined): string {
  const [, suggestion] = /(\(Did you mean .*\?\))$/.exec(message) ?? [];
  const advice = suggestion === undefined ? "" : ` ${suggestion}`;
  if (code === "commander.unknownCommand" || code === "commander.help")
    return `There is no such command.${advice}`;
  if (code === "commander.unknownOption") {
    const [, name = "", end] = /unknown option '(--?[a-z][a-z-]{0,20})([='])/.exec(message) ?? [];
    const what = end === "=" ? "unknown, or takes no value" : "unknown";
    return `Option ${name && `'${name}' `}is ${what}.${advice}`;
  }
  // The only argument of `upload` is a file.
  if (code === "commander.missingArgument" && command?.name() === "upload" && /[./]/.test(`${command.args}`))
    return "DATASET is missing: `tunerank upload DATASET FILE`.";
  const sentence = message.replace(/^error: /, "").replace(/\.?$/, ".");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

// The `tunerank` program: parses the command line, runs one command, and returns the exit code.
import { readFile } from "node:fs/promises";
import { type Command, CommanderError } from "commander";
import { version } from "../generated/version.js";
import { type Context, cannotRead, namingFile, type ServiceOptions, UsageError } from "./context.js";
import { variablesIn } from "./envFile.js";
import { exitCodeOfSignal, exitCodes } from "./exitCodes.js";
import { setUpHelp } from "./help.js";
import { createProgram } from "./program.js";
import { createTerminal } from "./terminal.js";

/** Loads the module of a command when that command is run. */
const commands: Readonly<Record<string, () => Promise<{ run(context: Context): Promise<void> }>>> = {
  rerank: () => import("./rerankCommand.js"),
  upload: async () => ({ run: (await import("./resourceCommands.js")).upload }),
  check: () => import("./checkCommand.js"),
  scale: async () => ({ run: (await import("./resourceCommands.js")).scale }),
  resume: async () => ({ run: (await import("./resourceCommands.js")).resume }),
  request: () => import("./requestCommand.js"),
  mock: () => import("./mockCommand.js"),
  conformance: () => import("./conformanceCommand.js"),
  completion: () => import("./completionCommand.js"),
  version: async () => ({ run: async ({ terminal }) => terminal.result({ version }, version) }),
};

const signals = Object.keys(exitCodeOfSignal) as (keyof typeof exitCodeOfSignal)[];

let lost: Error | undefined;

/**
 * Runs the command that the arguments name.
 * @param leaseMs How long a run may give no sign of life, in milliseconds, before another run may take over its files
 * @returns The exit code
 */
export async function main(args: readonly string[], leaseMs: number = 30_000): Promise<number> {
  surviveOutputErrors();
  // Created before anything can fail, so that every failure is reported in the form that the options ask for.
  const terminal = createTerminal({
    json: args.includes("--json"),
    quiet: args.includes("--quiet") || args.includes("-q"),
    color: !args.includes("--no-color"),
  });
  const program = createProgram();
  const ordered = commandFirst(program, args);
  const controller = new AbortController();
  let interrupted = exitCodes.interrupted;
  const stop = (signal: keyof typeof exitCodeOfSignal): void => {
    interrupted = exitCodeOfSignal[signal];
    // A second signal ends the process at once.
    if (controller.signal.aborted) process.exit(interrupted);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    await run(program, ordered, { terminal, signal: controller.signal, leaseMs });
    const lost = await outputError();
    if (lost !== undefined) throw new Error(`The result cannot be written: ${lost.message}`);
    return exitCodes.success;
  } catch (error) {
    const [name = ""] = ordered;
    // reportFailure.js loads the client, which help and completion do without, so it is imported only here.
    const { reportFailure } = await import("./reportFailure.js");
    const exitCode = reportFailure(error, terminal, Object.hasOwn(commands, name) ? name : undefined);
    return exitCode === exitCodes.interrupted ? interrupted : exitCode;
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

async function run(
  program: Command,
  args: readonly string[],
  given: Pick<Context, "terminal" | "signal" | "leaseMs">,
): Promise<void> {
  setUpHelp(program, given.terminal);
  for (const command of program.commands) {
    command.action(async () => {
      const loaded = await commands[command.name()]?.();
      const context = { options: command.opts(), args: command.args, program, ...given };
      try {
        await setEnvironment(command.opts());
        if (loaded && command.opts().dryRun === true)
          await (await import("./dryRun.js")).dryRun(context, loaded.run);
        else await loaded?.run(context);
      } finally {
        // An open standard input must not keep the process alive. `--help` never gets here, and so never opens it.
        process.stdin.unref?.();
      }
    });
  }
  await parse(program, args);
}

// Sets the variables of --env-file that the environment does not set, and the log level with --debug.
async function setEnvironment({ envFile, debug }: ServiceOptions): Promise<void> {
  const { env } = process;
  if (debug === true) env.TUNERANK_LOG = "debug";
  if (envFile === undefined) return;
  const file = namingFile("--env-file", envFile);
  const text = await readFile(envFile, "utf8").catch((error) => {
    throw cannotRead(file, error);
  });
  for (const [name, value] of Object.entries(variablesIn(text, file))) env[name] ||= value;
}

// Moves options that stand before the command behind it, where Commander looks for them.
function commandFirst(program: Command, args: readonly string[]): readonly string[] {
  const known = program.commands.flatMap(({ options }) => options);
  let end = 0;
  while (args[end]?.startsWith("-")) {
    const [name] = `${args[end]}`.split("=");
    const option = known.find(({ long, short }) => name === long || name === short);
    if (option === undefined) break;
    end += option.required && name === args[end] ? 2 : 1;
  }
  const [command, ...rest] = args.slice(end);
  return command === undefined || command.startsWith("-") ? args : [command, ...args.slice(0, end), ...rest];
}

// Lets a command run to its end even if nobody reads its output: without a listener, an error of stdout or stderr would
// end the process in the middle of a call.
function surviveOutputErrors(): void {
  // An error of stderr is ignored: there is nowhere else to show it.
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A program that reads a pipe, such as `head`, may close it when it has seen enough: that is no failure.
    if (error.code !== "EPIPE") lost ??= error;
  });
}

// Returns the error if stdout did not accept all output, such as on a full disk.
async function outputError(): Promise<Error | undefined> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  return lost;
}

// Runs the command that the arguments name, or shows help or the version.
async function parse(program: Command, args: readonly string[]): Promise<void> {
  refuseKeys(args);
  refuseMissingValues(program, args);
  refuseShortQuery(args);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander throws an error with exit code 0 after it shows help or the version.
    if (error.exitCode !== 0) throw new UsageError(await reasonOf(error));
  }
}

function refuseKeys(args: readonly string[]): void {
  if (!args.some((arg) => /^--?(api-?)?key(=|$)/.test(arg))) return;
  throw new UsageError(
    "A key cannot be an argument, because other users could read it: set TUNERANK_API_KEY or use --api-key-file FILE.",
  );
}

// Rejects an option whose value seems to be an option, which Commander would use as the value. A negative number
// passes: the check of the option's value reports what is wrong with it.
function refuseMissingValues(program: Command, [name, ...args]: readonly string[]): void {
  const command = program.commands.find((each) => each.name() === name);
  for (const [index, arg] of args.entries()) {
    const option = command?.options.find(({ long, short }) => arg === long || arg === short);
    const value = args[index + 1] ?? "";
    if (!option?.required || !/^-[^\d.]/.test(value)) continue;
    const isOption = command?.options.some(({ long, short }) => [long, short].includes(value.split("=")[0]));
    throw new UsageError(
      isOption
        ? `Option '${arg}' has no value: the next word is an option. A value that starts with a dash is written ${arg}=VALUE.`
        : `The value of '${arg}' starts with a dash: write ${arg}=VALUE.`,
    );
  }
}

// Rejects `rerank -q TEXT`: other programs use -q for a query, but here -q means --quiet, and the text would be read as
// the name of a file.
function refuseShortQuery([name, ...args]: readonly string[]): void {
  const isThere = (option: RegExp): boolean => args.some((arg) => option.test(arg));
  if (name !== "rerank" || !isThere(/^-q/) || isThere(/^--(query|bulk|help)(=|$)|^-q?h/)) return;
  throw new UsageError("-q means --quiet: the query is --query TEXT.");
}

// Keeps those names of Commander's suggestion that differ from the given one in at most two letters: Commander also
// suggests names of which half the letters differ.
async function suggestionIn(message: string): Promise<string> {
  const [, given = ""] = /'([^'=]*)/.exec(message) ?? [];
  const { editsBetween, lettersOf } = await import("../engine.js");
  const [, names = ""] = /\(Did you mean (?:one of )?([^']*)\?\)$/.exec(message) ?? [];
  const near = names.split(", ").filter((name) => editsBetween(lettersOf(given), lettersOf(name)) <= 2);
  if (names === "" || near.length === 0) return "";
  return ` (Did you mean ${near.length > 1 ? "one of " : ""}${near.join(", ")}?)`;
}

// The reason in an error of Commander, without the unknown argument that its message quotes, which may be an API key.
// The suggestion is kept, because it names only commands and options.
async function reasonOf({ code, message }: CommanderError): Promise<string> {
  const suggestion = await suggestionIn(message);
  if (code === "commander.unknownCommand" || code === "commander.help") {
    return `There is no such command.${suggestion}`;
  }
  if (code === "commander.unknownOption") {
    const [, name = "", end] = /error: unknown option ('--?[a-z][a-z-]{0,20})([='])/.exec(message) ?? [];
    if (end === "=") return `Option ${name}' is unknown or takes no value.${suggestion}`;
    return `Unknown option${name && ` ${name}'`}.${suggestion}`;
  }
  const sentence = message.replace(/^error: /, "").replace(/\.?$/, ".");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

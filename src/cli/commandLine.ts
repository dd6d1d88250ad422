// The `tunerank` program: parses the command line, runs one command, and returns the exit code.
import { readFile } from "node:fs/promises";
import { parseArgs, parseEnv } from "node:util";
import { version } from "../generated/version.js";
import { type CommandOptions, type Context, cannotRead, namingFile, UsageError } from "./context.js";
import { exitCodeOfSignal, exitCodes } from "./exitCodes.js";
import { helpOf } from "./help.js";
import { formerOptions, parsers } from "./options.js";
import { type Command, commands } from "./program.js";
import { createTerminal } from "./terminal.js";

const modules: Readonly<Record<string, () => Promise<{ run(context: Context): Promise<void> }>>> = {
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

const longestGraceMs = 8000;

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
  });
  // As for Node, FORCE_COLOR outranks NO_COLOR; but an empty variable is not set.
  if (args.includes("--no-color")) process.env.FORCE_COLOR = "0";
  if (!process.env.FORCE_COLOR) delete process.env.FORCE_COLOR;
  if (process.env.FORCE_COLOR || !process.env.NO_COLOR) delete process.env.NO_COLOR;
  const [stop, end] = [new AbortController(), new AbortController()];
  let graceMs = 0;
  let interrupted: number = exitCodes.interrupted;
  const onSignal = (signal: keyof typeof exitCodeOfSignal): void => {
    interrupted = exitCodeOfSignal[signal];
    if (stop.signal.aborted) process.exit(interrupted);
    stop.abort();
    if (graceMs === 0) end.abort();
    else setTimeout(() => end.abort(), graceMs).unref();
  };
  for (const signal of Object.keys(exitCodeOfSignal)) process.on(signal, onSignal);
  const grace = (): AbortSignal => {
    graceMs = longestGraceMs;
    return stop.signal;
  };
  const command = commands.find(({ name }) => name === args[0]);
  try {
    await run(command, args, { terminal, signal: end.signal, grace });
    // Output that was not accepted, such as on a full disk, is known only now.
    await new Promise((resolve) => process.stdout.write("", resolve));
    if (lost !== undefined) throw new Error(`The result cannot be written: ${lost.message}`);
    return exitCodes.success;
  } catch (error) {
    await terminal.hide(process.env.TUNERANK_API_KEY);
    const { reportFailure } = await import("./reportFailure.js");
    const exitCode = reportFailure(error, terminal, command?.name);
    return exitCode === exitCodes.interrupted ? interrupted : exitCode;
  } finally {
    // An open standard input must not keep the process alive. Help never opens it.
    if (modules[`${command?.name}`] !== undefined) process.stdin.unref?.();
  }
}

async function run(
  command: Command | undefined,
  [first = "help", ...rest]: readonly string[],
  surroundings: Pick<Context, "terminal" | "signal" | "grace">,
): Promise<void> {
  const { terminal } = surroundings;
  if (rest.concat(first).some((arg) => /^--?(api-?)?key(=|$)/.test(arg)))
    throw new UsageError(
      "A key cannot be an argument, because other users could read it: set TUNERANK_API_KEY or use --api-key-file FILE.",
    );
  if (first === "-v" || first === "--version") return terminal.write(`${version}\n`);
  const isHelp = /^(-h|--help|help)$/.test(first);
  const about = isHelp ? commands.find(({ name }) => name === rest[0]) : command;
  if (isHelp && (about !== undefined || rest.length === 0))
    return terminal.write(helpOf(about, [], terminal.columns));
  if (command === undefined) throw new UsageError("There is no such command: `tunerank COMMAND [OPTIONS]`.");
  const { options, args } = parsed(command, rest);
  if (options.help) return terminal.write(helpOf(command, args, terminal.columns));
  const { name, usage, arguments: all } = command;
  const missing = all.filter(({ isRequired }) => isRequired)[args.length];
  // `rerank` itself says of further arguments that the query is an option.
  const isOpen = name === "rerank" || all.at(-1)?.name.endsWith("...");
  if (missing !== undefined || (!isOpen && args.length > all.length)) {
    // The only argument of `upload` is a file.
    const what = name === "upload" && /[./]/.test(`${args}`) ? "DATASET" : missing?.name;
    const wrong = missing ? `${what} is missing` : "There are too many arguments";
    throw new UsageError(`${wrong}: \`tunerank ${name} ${usage}\`.`);
  }
  if (options.debug === true) process.env.TUNERANK_LOG = "debug";
  const { envFile } = options;
  if (envFile !== undefined) {
    const text = await readFile(envFile, "utf8").catch((error) => {
      throw cannotRead(namingFile("--env-file", envFile), error);
    });
    for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ||= value;
  }
  // Two commands load no client, to start fast.
  if (!/^(completion|skill|version)$/.test(command.name)) await terminal.hide(process.env.TUNERANK_API_KEY);
  const loaded = await modules[command.name]?.();
  const context: Context = { ...surroundings, options, args };
  if (options.dryRun) await (await import("./dryRun.js")).dryRun(context, loaded?.run as never);
  else await loaded?.run(context);
}

// The options and arguments of a command. A message shows no unknown argument: it may be an API key.
function parsed(command: Command, args: readonly string[]) {
  const { name, options } = command;
  const given = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  const former = given.map((arg) => `${name} ${arg.split("=")[0]}`).find((each) => formerOptions[each]);
  if (former !== undefined) throw new UsageError(`\`${former}\` ${formerOptions[former]}`);
  const config = options.map(({ long, short, value, isMany }) => {
    const type = value === "" ? ("boolean" as const) : ("string" as const);
    return [long.slice(2), { type, multiple: isMany, ...(short && { short: short.slice(1) }) }] as const;
  });
  try {
    const found = parseArgs({ args: [...args], options: Object.fromEntries(config), allowPositionals: true });
    const values = Object.entries(found.values).map(([key, text]) => {
      const parse = parsers[options.find(({ long }) => long === `--${key}`)?.value ?? ""];
      const camel = key.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      return [camel, parse === undefined ? text : parse(`${text}`, `--${key}`)];
    });
    return { options: Object.fromEntries(values) as CommandOptions, args: found.positionals };
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const [option = ""] = /--?[a-z\d][a-z-]{0,20}(?=[' ])/.exec((error as Error).message) ?? [];
    const known = options.find(({ long, short }) => long === option || short === option);
    if (known === undefined) throw new UsageError(`Option ${option && `'${option}' `}is unknown.`);
    if (known.value === "") throw new UsageError(`${known.long} takes no value.`);
    throw new UsageError(
      `${known.long} has no value. One that starts with a dash is written ${known.long}=VALUE.`,
    );
  }
}

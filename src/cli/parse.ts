import { type Command, CommanderError } from "commander";
import { UsageError } from "./context.js";

/** Runs the command that the arguments name, or shows help or the version. @throws UsageError */
export async function parse(program: Command, args: readonly string[]): Promise<void> {
  refuseKeys(args);
  refuseMissingValues(program, args);
  refuseShortQuery(args);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end in an error of exit code 0.
    if (error.exitCode !== 0) throw new UsageError(reasonOf(error));
  }
}

function refuseKeys(args: readonly string[]): void {
  if (!args.some((arg) => /^--?(api-?)?key(=|$)/.test(arg))) return;
  throw new UsageError(
    "A key cannot be an argument, because other users could read it: set TUNERANK_API_KEY or use --api-key-file FILE.",
  );
}

// Commander would take the next option for the value.
function refuseMissingValues(program: Command, [name, ...args]: readonly string[]): void {
  const command = program.commands.find((each) => each.name() === name);
  for (const [index, arg] of args.entries()) {
    const option = command?.options.find(({ long, short }) => arg === long || arg === short);
    if (option?.required && /^-./.test(args[index + 1] ?? "")) {
      throw new UsageError(
        `Option '${arg}' has no value. One that starts with a dash is written ${arg}=VALUE.`,
      );
    }
  }
}

// Elsewhere -q often means a query: here it would be taken for --quiet, and the query for a file.
function refuseShortQuery([name, ...args]: readonly string[]): void {
  const isThere = (option: RegExp): boolean => args.some((arg) => option.test(arg));
  if (name !== "rerank" || !isThere(/^-q/) || isThere(/^--(query|bulk|help)(=|$)|^-q?h/)) return;
  throw new UsageError("-q means --quiet: the query is --query TEXT.");
}

// Commander repeats the argument that it does not know, which may be a key; its suggestion is one of our names.
function reasonOf({ code, message }: CommanderError): string {
  const suggestion = /\s\(Did you mean [^']*\?\)$/.exec(message)?.[0].replace("\n", " ") ?? "";
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

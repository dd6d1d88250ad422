// Options that several commands have, and how values are read.
import type { Command } from "commander";
import { type OperationId, operations } from "../generated/contract.js";
import { UsageError } from "./context.js";

/** The operation of each command that has one of its own. */
export const operationOfCommand: Readonly<Record<"rerank" | "scale" | "resume" | "upload", OperationId>> = {
  rerank: "rerankDocuments",
  scale: "scaleDeployment",
  resume: "resumeReinforcementFineTuningJob",
  upload: "uploadDatasetFile",
};

function defaultSeconds(): string {
  const commands = new Map<string, string[]>();
  const add = (command: string, seconds: string) =>
    commands.set(seconds, [...(commands.get(seconds) ?? []), command]);
  for (const [command, operation] of Object.entries(operationOfCommand)) {
    const { timeoutMs, bytesPerSecond } = operations[operation];
    add(command, `${timeoutMs / 1000}${bytesPerSecond === undefined ? "" : " or more, by size,"}`);
  }
  add("a request to a PATH", "30");
  // Intl.ListFormat writes the same, but loading its data took a quarter of every start.
  const listed = (names: string[]) => names.join(", ").replace(/, ([^,]*)$/, " and $1");
  return [...commands].map(([seconds, names]) => `${seconds} for ${listed(names)}`).join("; ");
}

/** Where the service is, and how it is called. */
export function addServiceOptions(command: Command): Command {
  return command
    .optionsGroup("The service:")
    .option("--base-url <URL>", "The service's address. Default: TUNERANK_BASE_URL.")
    .option(
      "--api-key-file <FILE>",
      "The file with the API key. Default: TUNERANK_API_KEY. The key itself is no option: other users of a machine can read arguments.",
    )
    .option("--account <ID>", "The account. Default: TUNERANK_ACCOUNT_ID.")
    .option(
      "--timeout <SECONDS>",
      `The time for the whole call, retries included. Default: ${defaultSeconds()}.`,
      numberOf("--timeout"),
    )
    .option(
      "--max-retries <N>",
      "The most retries, where retries are safe. Default: 2.",
      numberOf("--max-retries"),
    )
    .option("--allow-insecure-http", "Allow plain http to another machine.")
    .option("--proxy <URL>", "Use this proxy. Default: the variables https_proxy, all_proxy and no_proxy.")
    .option("--noproxy <HOSTS>", "Reach these hosts without a proxy. Replaces no_proxy.");
}

/** How a command prints. */
export function addOutputOptions(command: Command): Command {
  return command
    .optionsGroup("Output:")
    .option("--json", "Print one JSON value for programs; errors too, on stderr.")
    .option("-q, --quiet", "Print only results and errors.")
    .option("--no-color", "Print no colours. The variable NO_COLOR does the same.")
    .helpOption("-h, --help", "Show this help.");
}

/** Reads an option that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Reads a number. */
export function numberOf(option: string): (value: string) => number {
  return (value) => {
    // Number("") and Number(" ") are 0.
    if (value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
    throw new UsageError(`${option} must be a number.`);
  };
}

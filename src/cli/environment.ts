// The environment variables of the command: what the help says of each, and how --env-file sets them.
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { variables } from "../engine.js";
import { cannotRead, namingFile } from "./context.js";

// Every variable that the client reads: with this type, TypeScript reports one that is missing here.
const ofClient: Readonly<Record<(typeof variables)[keyof typeof variables], string>> = {
  TUNERANK_BASE_URL: "The service's address (--base-url).",
  TUNERANK_API_KEY: "The API key (--api-key-file).",
  TUNERANK_ACCOUNT_ID: "The account (--account).",
  TUNERANK_RERANK_MODEL: "The model of a rerank (--model).",
  TUNERANK_LOG: "Log attempts to stderr, from level error, warn, info or debug (--debug).",
};

/** Each variable, or several of one kind, with what it does. */
export const environmentRows: readonly (readonly [names: string, meaning: string])[] = [
  ...Object.entries(ofClient),
  ["https_proxy, http_proxy, all_proxy", "The proxy (--proxy)."],
  ["no_proxy", "Hosts that are reached without a proxy (--noproxy)."],
  ["NODE_EXTRA_CA_CERTS", "A file with the certificates of a custom CA. Not read from --env-file."],
  ["NO_COLOR", "No colours (--no-color)."],
  ["FORCE_COLOR", "Colours also if the output is not a terminal."],
  ["CI", "Progress is printed as plain lines; there are no confirmation prompts."],
  ["TERM=dumb", "Progress is printed as plain lines, without colours."],
];

/** Sets the variables of an env file that the environment does not set. @throws UsageError if it cannot be read */
export async function setEnvironment(envFile: string): Promise<void> {
  const text = await readFile(envFile, "utf8").catch((error) => {
    throw cannotRead(namingFile("--env-file", envFile), error);
  });
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ||= value;
}

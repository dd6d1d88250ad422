// The environment variables of the command: what the help says of each, and what they decide about the terminal.
import type { variables } from "../engine.js";

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

/** Whether a variable such as CI is set, to any value but `0` and `false`. */
export function isSet(name: string): boolean {
  return !["", "0", "false"].includes(process.env[name] ?? "");
}

/** Whether text for a stream is coloured. As in Node, FORCE_COLOR outranks NO_COLOR. An empty variable is not set. */
export function hasColors(stream: NodeJS.WriteStream): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (FORCE_COLOR) return isSet("FORCE_COLOR");
  return !NO_COLOR && TERM !== "dumb" && stream.isTTY;
}

/** Whether bars may be drawn on a terminal. */
export function mayDraw(): boolean {
  return process.env.TERM !== "dumb" && !isSet("CI");
}

import { readFile } from "node:fs/promises";
import { isExcepted } from "../engine.js";
import { operations } from "../generated/contract.js";
import { type AttemptEvent, type Client, createClient, type OperationName } from "../index.js";
import { type Context, cannotRead, type ServiceOptions, UsageError } from "./context.js";
import { isSilent, type Terminal } from "./terminal.js";

/** Creates a client from the command line and the environment, calls `use` with it, and closes it. */
export async function withClient(
  { options, terminal }: Context,
  operation: OperationName,
  use: (client: Client) => Promise<void>,
  maxConnections?: number,
): Promise<void> {
  const needsAccount = operation !== "request" && operations[operation].path.includes("{account_id}");
  const client = createClient({
    baseUrl: required(options.baseUrl, "--base-url URL", "TUNERANK_BASE_URL"),
    apiKey: await keyFrom(required(options.apiKeyFile, "--api-key-file FILE", "TUNERANK_API_KEY")),
    accountId: needsAccount ? required(options.account, "--account ID", "TUNERANK_ACCOUNT_ID") : undefined,
    timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
    maxRetries: options.maxRetries,
    maxConnections,
    allowInsecureHttp: options.allowInsecureHttp === true,
    proxy: proxyOf(options),
    userAgent: "tunerank-cli",
    onAttempt: isSilent(terminal) ? undefined : (event) => showRetry(event, terminal),
  });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

// Checked here because the client's message would name its own options, which the command line does not have.
function required(value: string | undefined, option: string, variable: string): string | undefined {
  if (value === undefined && !process.env[variable]) {
    throw new UsageError(`${variable} is not set, and ${option} is not given.`);
  }
  return value;
}

// As in curl, the hosts of no_proxy and --noproxy are reached directly even if --proxy is given.
function proxyOf({ baseUrl, proxy, noproxy }: ServiceOptions): string | undefined {
  const { env } = process;
  if (noproxy !== undefined) Object.assign(env, { no_proxy: noproxy, NO_PROXY: noproxy });
  if (proxy === undefined) return "env";
  const address = baseUrl ?? env.TUNERANK_BASE_URL ?? "";
  const exceptions = env.no_proxy || env.NO_PROXY || "";
  if (URL.canParse(address) && isExcepted(new URL(address), exceptions)) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

async function keyFrom(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw cannotRead("--api-key-file", error, " It takes the name of a file, not the key.");
  }
}

// Shows which attempt failed, and how long the client waits before the retry.
function showRetry({ code, number, waitMs }: AttemptEvent, terminal: Terminal): void {
  if (waitMs === undefined) return;
  const wait = `${(waitMs / 1000).toFixed(1)} s`;
  if (terminal.errorColumns > 0) terminal.redraw("");
  terminal.note(terminal.errorStyle("yellow", `Attempt ${number}: ${code}. Trying again in ${wait}.`));
}

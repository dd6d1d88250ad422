import { readFile } from "node:fs/promises";
import { isExcepted, variables } from "../engine.js";
import { operations } from "../generated/contract.js";
import { type AttemptEvent, type Client, createClient, type OperationName } from "../index.js";
import { type Context, cannotRead, type ServiceOptions, UsageError } from "./context.js";
import { isSilent, type Terminal } from "./terminal.js";

/** Creates a client from the command line and the environment, calls `use` with it, and closes it. */
export async function withClient(
  { options, terminal, dryRun }: Context,
  operation: OperationName,
  use: (client: Client) => Promise<void>,
  maxConnections?: number,
): Promise<void> {
  const needsAccount = operation !== "request" && operations[operation].path.includes("{account_id}");
  // A dry run needs no key: any text can take its place.
  const needsKey = !dryRun || options.apiKeyFile !== undefined || !!process.env[variables.apiKey];
  const missing = [
    options.baseUrl === undefined &&
      !process.env[variables.baseUrl] &&
      `${variables.baseUrl} (--base-url URL)`,
    needsKey &&
      options.apiKeyFile === undefined &&
      !process.env[variables.apiKey] &&
      `${variables.apiKey} (--api-key-file FILE)`,
    needsAccount &&
      options.account === undefined &&
      !process.env[variables.accountId] &&
      `${variables.accountId} (--account ID)`,
  ].filter(Boolean);
  if (missing.length > 0)
    throw new UsageError(
      `Not set: ${missing.join(", ")}. Set the variable or the option, or name a file of variables with --env-file FILE.`,
    );
  const key = options.apiKeyFile === undefined ? undefined : await keyIn(options.apiKeyFile);
  if (key !== undefined) await terminal.hide(key);
  const client = createClient({
    baseUrl: options.baseUrl,
    apiKey: needsKey ? key : "none",
    accountId: needsAccount ? options.account : undefined,
    timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
    maxRetries: options.maxRetries,
    maxConnections,
    allowInsecureHttp: options.allowInsecureHttp === true,
    proxy: dryRun ? undefined : proxyOf(options),
    fetch: dryRun?.fetch,
    // A dry run makes no attempts, so none may be logged.
    logLevel: dryRun ? "off" : undefined,
    userAgent: "tunerank-cli",
    onAttempt: isSilent(terminal) ? undefined : (event) => showRetry(event, terminal),
  });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

// As in curl, the hosts of no_proxy and --noproxy are reached directly even if --proxy is given.
function proxyOf({ baseUrl, proxy, noproxy }: ServiceOptions): string | undefined {
  const { env } = process;
  if (noproxy !== undefined) Object.assign(env, { no_proxy: noproxy, NO_PROXY: noproxy });
  if (proxy === undefined) return "env";
  const address = baseUrl ?? env[variables.baseUrl] ?? "";
  const exceptions = env.no_proxy || env.NO_PROXY || "";
  if (URL.canParse(address) && isExcepted(new URL(address), exceptions)) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

async function keyIn(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error) => {
    // The file is not named: its name may be the key.
    throw cannotRead("--api-key-file", error, " It takes the name of a file, not the key.");
  });
  const key = text.trim();
  if (key === "") throw new UsageError("The file that --api-key-file names is empty.");
  if (!/\s/.test(key)) return key;
  throw new UsageError("The key in the file that --api-key-file names has a space or a line break in it.");
}

// Shows which attempt failed, and how long the client waits before the retry.
function showRetry({ code, number, waitMs, cause }: AttemptEvent, terminal: Terminal): void {
  if (waitMs === undefined) return;
  const wait = waitMs < 50 ? "now" : `in ${(waitMs / 1000).toFixed(1)} s`;
  // The system's code of the failure, such as ECONNREFUSED.
  const { code: reason } = Object(cause) as NodeJS.ErrnoException;
  const why = /^E[A-Z_]+$/.test(`${reason}`) ? ` (${reason})` : "";
  if (terminal.errorColumns > 0) terminal.redraw();
  terminal.note(terminal.errorStyle("yellow", `Attempt ${number} failed: ${code}${why}. Retrying ${wait}.`));
}

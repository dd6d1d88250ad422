import { readFile } from "node:fs/promises";
import { isExcepted, variables } from "../engine.js";
import { operations } from "../generated/contract.js";
import { type AttemptEvent, type Client, createClient, type OperationName, StatusError } from "../index.js";
import { listed } from "./commandOptions.js";
import { type Context, cannotRead, type ServiceOptions, UsageError } from "./context.js";
import { isSilent, type Terminal, Unwritable } from "./terminal.js";

/** Creates a client from the command line and the environment, calls `use` with it, and closes it. */
export async function withClient(
  { options, terminal, dryRun }: Context,
  operation: OperationName,
  use: (client: Client) => Promise<void>,
  maxConnections?: number,
): Promise<void> {
  if (options.timeout !== undefined && options.timeout <= 0)
    throw new UsageError("--timeout must be greater than 0.");
  const needsAccount = operation !== "request" && operations[operation].path.includes("{account_id}");
  // A dry run needs no key: any text can take its place.
  const needsKey = !dryRun || options.apiKeyFile !== undefined || !!process.env[variables.apiKey];
  refuseMissing([
    [variables.baseUrl, "--base-url URL", options.baseUrl],
    [variables.apiKey, "--api-key-file FILE", needsKey ? options.apiKeyFile : "not needed"],
    [variables.accountId, "--account ID", needsAccount ? options.account : "not needed"],
  ]);
  const client = createClient({
    baseUrl: options.baseUrl,
    apiKey: needsKey ? await keyFrom(options.apiKeyFile) : "none",
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
  } catch (error) {
    throw error instanceof Unwritable ? ranUnwritten(error, operation) : error;
  } finally {
    await client.close();
  }
}

// The error if a result cannot be written. The operation has run, so it is that of a response that cannot be used.
function ranUnwritten(cause: Unwritable, operation: OperationName): StatusError {
  const hint = "The operation succeeded: the same command would run it again.";
  const known = { code: "INTERNAL", executed: "yes", codeSource: "client" } as const;
  return new StatusError(cause.message, { ...known, operation, hint, cause });
}

type Needed = readonly [variable: string, option: string, given: string | undefined];

// Rejects missing values here, because the client's message would name options that the command line does not have.
function refuseMissing(needed: readonly Needed[]): void {
  const missing = needed.filter(([variable, , given]) => given === undefined && !process.env[variable]);
  if (missing.length === 0) return;
  const [are, them] = missing.length === 1 ? ["is", "it"] : ["are", "them"];
  const variables = listed(missing.map(([variable]) => variable));
  const options = listed(missing.map(([, option]) => option));
  throw new UsageError(
    `${variables} ${are} not set. Set ${them}, name a file that has ${them} with --env-file FILE, or add ${options}.`,
  );
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

async function keyFrom(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    const key = (await readFile(file, "utf8")).trim();
    if (key === "") throw new UsageError("The file that --api-key-file names is empty.");
    if (/\s/.test(key))
      throw new UsageError(
        "The key in the file that --api-key-file names has a space or a line break in it.",
      );
    return key;
  } catch (error) {
    throw cannotRead("--api-key-file", error, " It takes the name of a file, not the key.");
  }
}

// Shows which attempt failed, and how long the client waits before the retry.
function showRetry({ code, number, waitMs, cause }: AttemptEvent, terminal: Terminal): void {
  if (waitMs === undefined) return;
  const wait = waitMs < 50 ? "now" : `in ${(waitMs / 1000).toFixed(1)} s`;
  // The system's code of the failure, such as ECONNREFUSED.
  const { code: reason } = Object(cause) as NodeJS.ErrnoException;
  const why = /^E[A-Z_]+$/.test(`${reason}`) ? ` (${reason})` : "";
  if (terminal.errorColumns > 0) terminal.redraw("");
  terminal.note(terminal.errorStyle("yellow", `Attempt ${number} failed: ${code}${why}. Retrying ${wait}.`));
}

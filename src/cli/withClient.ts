import { readFile } from "node:fs/promises";
import { variables } from "../engine.js";
import { operations } from "../generated/contract.js";
import { type Client, createClient, type OperationName } from "../index.js";
import { type Context, cannotRead, UsageError } from "./context.js";
import { styled } from "./terminal.js";

/** Creates a client from the command line and the environment, calls `use` with it, and closes it. */
export async function withClient(
  { options, terminal, dryRun }: Context,
  operation: OperationName,
  use: (client: Client) => Promise<void>,
  maxConnections?: number,
): Promise<void> {
  const { env } = process;
  const { baseUrl, account, apiKeyFile, proxy, noproxy, timeout, maxRetries, allowInsecureHttp } = options;
  const needsAccount = operation !== "request" && operations[operation].path.includes("{account_id}");
  // A dry run needs no key: any text can take its place.
  const needsKey = !dryRun || apiKeyFile !== undefined || !!env[variables.apiKey];
  const needed = [
    [baseUrl, variables.baseUrl, "--base-url URL", true],
    [apiKeyFile, variables.apiKey, "--api-key-file FILE", needsKey],
    [account, variables.accountId, "--account ID", needsAccount],
  ] as const;
  const missing = needed.filter(([given, variable, , isNeeded]) => isNeeded && !given && !env[variable]);
  if (missing.length > 0)
    throw new UsageError(
      `Not set: ${missing.map(([, variable, option]) => `${variable} (${option})`).join(", ")}. Set the variable or the option, or name a file of variables with --env-file FILE.`,
    );
  let key: string | undefined;
  if (apiKeyFile !== undefined) {
    const text = await readFile(apiKeyFile, "utf8").catch((error) => {
      // The file is not named: its name may be the key.
      throw cannotRead("--api-key-file", error, " It takes the name of a file, not the key.");
    });
    key = text.trim();
    if (!/^\S+$/.test(key))
      throw new UsageError("The file that --api-key-file names must hold the key, and nothing else.");
    await terminal.hide(key);
  }
  // As in curl, the hosts of no_proxy and --noproxy are reached directly even if --proxy is given.
  if (noproxy !== undefined) Object.assign(env, { no_proxy: noproxy, NO_PROXY: noproxy });
  if (proxy !== undefined) Object.assign(env, { https_proxy: proxy, http_proxy: proxy });
  const client = createClient({
    ...{ baseUrl, maxRetries, timeoutMs: timeout, maxConnections, userAgent: "tunerank-cli" },
    apiKey: needsKey ? key : "none",
    accountId: needsAccount ? account : undefined,
    allowInsecureHttp: allowInsecureHttp === true,
    proxy: dryRun ? undefined : "env",
    fetch: dryRun?.fetch,
    // A dry run makes no attempts, so none may be logged.
    logLevel: dryRun ? "off" : undefined,
    onAttempt({ code, number, waitMs, cause }) {
      if (waitMs === undefined || terminal.isSilent) return;
      const wait = waitMs < 50 ? "now" : `in ${(waitMs / 1000).toFixed(1)} s`;
      const { code: reason = "" } = Object(cause) as NodeJS.ErrnoException;
      const why = /^E[A-Z_]+$/.test(reason) ? ` (${reason})` : "";
      if (terminal.errorColumns > 0) terminal.redraw();
      terminal.note(styled("yellow", `Attempt ${number} failed: ${code}${why}. Retrying ${wait}.`));
    },
  });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

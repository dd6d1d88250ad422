import { readFile } from "node:fs/promises";
import { operations } from "../generated/contract.js";
import { type AttemptEvent, type Client, createClient } from "../index.js";
import { type Context, number, reasonOf, text, UsageError } from "./context.js";

/** Runs `use` with a client made of the command line and the environment. */
export async function withClient(context: Context, use: (client: Client) => Promise<void>): Promise<void> {
  const { terminal, operation } = context;
  const needsAccount = operation !== undefined && operations[operation].path.includes("{account_id}");
  const seconds = number(context, "timeout");
  const client = createClient({
    baseUrl: given(context, "base-url", "URL", "TUNERANK_BASE_URL"),
    apiKey: await keyFrom(given(context, "api-key-file", "FILE", "TUNERANK_API_KEY")),
    accountId: needsAccount ? given(context, "account", "ID", "TUNERANK_ACCOUNT_ID") : undefined,
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    maxRetries: number(context, "max-retries"),
    allowInsecureHttp: context.values["allow-insecure-http"] === true,
    userAgent: "tunerank-cli",
    onAttempt: terminal.quiet || terminal.json ? undefined : (event) => tell(context, event),
  });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

// The client would name its own options, which no command line has.
function given(context: Context, option: string, value: string, variable: string): string | undefined {
  const said = text(context, option);
  if (said === undefined && !process.env[variable]) {
    throw new UsageError(`${variable} is not set, and --${option} ${value} is not given.`);
  }
  return said;
}

async function keyFrom(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    const reason = reasonOf(error as NodeJS.ErrnoException);
    throw new UsageError(
      `--api-key-file cannot be read: ${reason}. It takes the name of a file, not the key.`,
    );
  }
}

// People wait for it, so they should know what it waits for.
function tell({ terminal }: Context, { code, number: attempt, waitMs }: AttemptEvent): void {
  if (waitMs === undefined) return;
  const again = `${(waitMs / 1000).toFixed(1)} s`;
  if (terminal.errorColumns > 0) terminal.redraw("");
  terminal.note(terminal.errorStyle("yellow", `Attempt ${attempt}: ${code}. Trying again in ${again}.`));
}

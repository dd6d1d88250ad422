// Reranks and resumes over HTTP/2, in a process of its own: undici 8 needs a newer Node than these checks.
import { createRequire } from "node:module";
import { createClient, isStatusError } from "../../src/index.js";
import { certificate } from "../../test/support/certificate.js";

/** What the process is given. */
export interface Asked {
  readonly url: string;
  /** Of which package's `Agent`. */
  readonly undici: string;
  readonly calls: number;
  readonly lanes: number;
  readonly maxRetries: number;
}

/** What it writes at its end. */
export interface Outcome {
  /** How many connections there were. */
  readonly connections: number;
  /** `executed` and the message of each call that failed, by the call's name. */
  readonly failures: Readonly<Record<string, readonly [executed: string, message: string]>>;
}

const { url, undici, calls, lanes, maxRetries } = JSON.parse(process.argv[2] ?? "") as Asked;
const { Agent } = createRequire(import.meta.url)(undici) as typeof import("undici");
const dispatcher = new Agent({ allowH2: true, connect: { ca: certificate } });
let connections = 0;
dispatcher.on("connect", () => {
  connections += 1;
});
const account = { apiKey: "key-of-the-proxies-check", accountId: "proxies" };
const client = createClient({ baseUrl: url, ...account, dispatcher, maxRetries });
const failures: Record<string, readonly [string, string]> = {};
let next = 0;
await Promise.all(Array.from({ length: lanes }, lane));
await dispatcher.destroy();
console.log(JSON.stringify({ connections, failures } satisfies Outcome));

async function lane(): Promise<void> {
  for (let i = next++; i < calls; i = next++) {
    if (i === calls / 2) console.log("half");
    await made(`rerank-${i}`, (query) => client.rerank({ query, documents: ["d"] }));
    await made(`resume-${i}`, (id) => client.reinforcementFineTuningJobs.resume(id));
  }
}

// Each response carries the name of its call.
async function made(name: string, call: (name: string) => PromiseLike<unknown>): Promise<void> {
  try {
    const response = await call(name);
    if (!JSON.stringify(response).includes(`"${name}"`)) failures[name] = ["wrong", JSON.stringify(response)];
  } catch (error) {
    if (!isStatusError(error)) throw error;
    failures[name] = [error.executed, error.message];
  }
}

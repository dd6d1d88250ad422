import {
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type StatusError,
} from "../../../src/index.js";

/** Something that must hold behind a real proxy. */
export interface Proof {
  /** The program it needs. */
  readonly needs: "nginx" | "haproxy" | "squid";
  readonly name: string;
  /** Rejects when it does not hold. */
  prove(): Promise<void>;
}

/** A client with an account and a key. */
export function clientOf(baseUrl: string, options: ClientOptions = {}): Client {
  return createClient({ baseUrl, apiKey: "key-of-the-proxies-check", accountId: "proxies", ...options });
}

/** Each operation as a call with this name. */
export const operations: readonly (readonly [
  operation: string,
  call: (client: Client, name: string) => PromiseLike<unknown>,
])[] = [
  ["resume", (client, name) => client.reinforcementFineTuningJobs.resume(name)],
  ["rerank", (client, name) => client.rerank({ query: name, documents: ["d"] })],
  ["scale", (client, name) => client.deployments.scale(name, 1)],
  ["upload", (client, name) => client.datasets.upload(name, new Uint8Array(4096), { name: "train.jsonl" })],
];

/** The error a call rejects with. */
export async function failureOf(call: PromiseLike<unknown>): Promise<StatusError> {
  try {
    await call;
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
  throw new Error("The call succeeded.");
}

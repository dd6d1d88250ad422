import { HttpProxyAgent } from "http-proxy-agent";
import { createClient, isStatusError } from "../../src/index.js";
import type { RunningProxy } from "./programs.js";

/** What a call asks for. */
export type Operation = "resume" | "rerank" | "scale" | "upload";

/** A client under test. Each call has a name, which the service sends back and its response must carry. */
export interface Contestant {
  readonly name: string;
  readonly operations: readonly Operation[];
  open(
    proxy: RunningProxy & { readonly way: "reverse" | "forward"; readonly servicePort: number },
  ): OpenContestant;
}

/** It never ran, it never ran and the client had no retries left to spend, or nothing of use. */
export type Said = "neverRan" | "overBudget" | undefined;

/** A client that is ready to call. */
export interface OpenContestant {
  /** Resolves to the name that the response carries. */
  call(operation: Operation, name: string): Promise<string>;
  /** What the client says of a call that failed. */
  said(error: unknown): Said;
  close(): Promise<unknown>;
}

const key = "key-of-the-proxies-check";
const file = new TextEncoder().encode('{"text":"good"}\n'.repeat(64));

/** This package. */
export const tunerank: Contestant = {
  name: "tunerank",
  operations: ["resume", "rerank", "scale", "upload"],
  open({ way, port, servicePort }) {
    const agent = new HttpProxyAgent(`http://127.0.0.1:${port}`, { keepAlive: true });
    const client = createClient({
      apiKey: key,
      accountId: "proxies",
      ...(way === "reverse"
        ? { baseUrl: `http://127.0.0.1:${port}`, maxConnections: 512 }
        : { baseUrl: `http://127.0.0.1:${servicePort}`, agent }),
    });
    return {
      async call(operation, name) {
        switch (operation) {
          case "resume":
            return (await client.reinforcementFineTuningJobs.resume(name)).name ?? "";
          case "rerank":
            return (await client.rerank({ query: name, documents: ["d"] })).model ?? "";
          case "upload":
            return (await client.datasets.upload(name, file, { name: "train.jsonl" })).filename ?? "";
          default:
            await client.deployments.scale(name, 1);
            return name;
        }
      },
      said(error) {
        if (!isStatusError(error) || error.executed !== "no") return undefined;
        return error.notRetried === "budget" ? "overBudget" : "neverRan";
      },
      async close() {
        await client.close();
        agent.destroy();
      },
    };
  },
};

interface Peer {
  post(path: string, body: object): Promise<{ readonly name?: string }>;
  close?(): unknown;
}

/** Other clients, with their defaults: what they make of the two operations that are plain JSON. */
export const peers: readonly Contestant[] = ["undici", "got", "openai", "stripe"].map((name) => ({
  name,
  operations: ["resume", "rerank"],
  open({ port }) {
    const opened = import(new URL("peers.js", import.meta.url).href).then(
      (module: { open(name: string, baseUrl: string, key: string): Peer }) =>
        module.open(name, `http://127.0.0.1:${port}`, key),
    );
    return {
      async call(operation, id) {
        const peer = await opened;
        const path =
          operation === "rerank"
            ? "/inference/v1/rerank"
            : `/v1/accounts/proxies/reinforcementFineTuningJobs/${id}:resume`;
        const response = await peer.post(path, operation === "rerank" ? { query: id, documents: ["d"] } : {});
        return response.name ?? "";
      },
      // None of them says anything.
      said: () => undefined,
      close: async () => (await opened).close?.(),
    };
  },
}));

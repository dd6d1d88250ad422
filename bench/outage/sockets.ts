// One point of the simulation over real sockets: a service that stays down, and calls made all at once.
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type Client, createClient } from "../../src/index.js";

type Call = () => PromiseLike<unknown>;
const require = createRequire(new URL("../package.json", import.meta.url));
const body = { query: "q", documents: ["d"] };

/** The requests that a real server counts, by policy; openai's only where bench/ has it installed. */
export async function countOverSockets(calls: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [policy, open] of Object.entries(contestants)) {
    const requests = await countRequests(calls, open);
    if (requests !== undefined) counts.set(policy, requests);
  }
  return counts;
}

const contestants: Readonly<Record<string, (baseUrl: string) => Call | undefined>> = {
  tunerank(baseUrl) {
    const client = open(baseUrl);
    return () => client.rerank(body);
  },
  // A client for each call: its budget is never empty.
  "tunerank without its budget": (baseUrl) => () => open(baseUrl).rerank(body),
  openai(baseUrl) {
    const OpenAI = openaiPackage();
    const client = OpenAI && new OpenAI({ apiKey: "outage-key", baseURL: baseUrl });
    return client && (() => client.post("/inference/v1/rerank", { body }));
  },
};

function open(baseUrl: string): Client {
  return createClient({ baseUrl, apiKey: "outage-key" });
}

interface OpenAIClient {
  post(path: string, options: object): PromiseLike<unknown>;
}

function openaiPackage(): (new (options: object) => OpenAIClient) | undefined {
  try {
    return require("openai").OpenAI;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

async function countRequests(
  calls: number,
  prepare: (baseUrl: string) => Call | undefined,
): Promise<number | undefined> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on("end", () => {
      response.writeHead(503, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "UNAVAILABLE", message: "Down." }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const call = prepare(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    if (call === undefined) return undefined;
    const settled = await Promise.allSettled(Array.from({ length: calls }, () => call()));
    if (settled.some(({ status }) => status === "fulfilled"))
      throw new Error("A call to a dead service succeeded.");
    return requests;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

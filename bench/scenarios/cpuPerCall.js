import { alternate } from "../alternate.js";
import { allClients, overDispatch } from "../contestants.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "CPU per small rerank call, concurrency 16";
export const unit = "µs";

export async function measure({ quick, contestants = [...allClients, ...overDispatch], ...child }) {
  const server = await startServer();
  // fetch and those above it need thousands of calls before their cost settles, node:http tens of thousands.
  const load = quick
    ? { warmUpCalls: 2000, warmUpMs: 500, measureMs: 700 }
    : { warmUpCalls: 5000, warmUpMs: 2000, measureMs: 1500 };
  const input = { baseUrl: server.baseUrl, body: "small", concurrency: 16, ...load };
  try {
    return await alternate(quick ? 3 : 9, contestants, async (client) => {
      const { microseconds } = await runChild("callCost", { ...input, client }, child);
      return microseconds;
    });
  } finally {
    await server.close();
  }
}

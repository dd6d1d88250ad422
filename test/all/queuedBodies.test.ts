import { expect, test } from "vitest";
import { type CountingServer, useCountingServer } from "../support/countingServer.js";
import { runScript } from "../support/script.js";

const server = useCountingServer();

test.each([
  ["client's", {}],
  ["caller's", { AGENT: "1" }],
])(
  "two thousand calls of 200 kB that ended in the queue of the %s agent leave less than 20 MB",
  (_whose, env) => expectBodiesLetGo(server, env),
);

// What a process holds after so many calls of 200 kB have ended while they waited for the only socket.
const script = `
  import http from "node:http";
  import { createClient } from "./src/index.ts";
  const agent = process.env.AGENT ? new http.Agent({ maxSockets: 1 }) : undefined;
  const client = createClient({ baseUrl: process.env.URL, accountId: "a", agent, maxConnections: 1, maxRetries: 0 });
  const held = () => {
    gc();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return heapUsed + external + arrayBuffers;
  };
  const first = client.deployments.scale("held", 1, { timeoutMs: 600_000 }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Another client of the same agent: its own queue is the agent's.
  const other = agent ? createClient({ baseUrl: process.env.URL, agent, maxRetries: 0 }) : client;
  await other.rerank({ query: "q", documents: ["d"] }, { timeoutMs: 1 }).catch(() => {});
  const before = held();
  const codes = new Set();
  for (let i = 0; i < 20; i++) {
    const calls = Array.from({ length: 100 }, (_, j) =>
      other.rerank({ query: "q", documents: ["é".repeat(100_000) + i + j] }, { timeoutMs: 50 }));
    for (const { reason } of await Promise.allSettled(calls)) codes.add(reason.code + " " + reason.executed);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(JSON.stringify({ codes: [...codes], heldMB: (held() - before) / 1e6 }));
  process.exit();
`;

/** Two thousand calls of 200 kB that ended in the queue leave less than 20 MB. */
async function expectBodiesLetGo(server: CountingServer, env: Record<string, string>): Promise<void> {
  server.listen(() => {});
  const { stdout } = await runScript(script, { URL: server.url, ...env }, { args: ["--expose-gc"] });
  const { codes, heldMB } = JSON.parse(stdout);
  expect(codes).toEqual(["DEADLINE_EXCEEDED no"]);
  expect(heldMB).toBeLessThan(20);
  expect(server.used).toEqual([1]);
}

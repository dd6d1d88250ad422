import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { certificate, certificateKey } from "../support/certificate.js";
import { useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";

// The servers never end a connection: a process that ends did so by itself, and one that does not meets the timeout.
const server = useCountingServer();
const secure = createServer(
  { cert: certificate, key: certificateKey, keepAliveTimeout: 0 },
  (request, response) => {
    request.resume().on("end", () => response.end(goodText));
  },
);

beforeAll(async () => {
  await once(secure.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  secure.close();
  secure.closeAllConnections();
});

const rerank = 'client.rerank({ query: "q", documents: ["d"] })';

const programs: readonly (readonly [what: string, script: string, requests: number | undefined])[] = [
  ["an unused client", "client.withOptions({ timeoutMs: 5_000 })", 0],
  [
    "many idle sockets",
    `await Promise.all(Array.from({ length: 20 }, () => ${rerank}));
     await client.datasets.upload("reviews", "package.json")`,
    21,
  ],
  ["a closed client", `await ${rerank}; await client.close()`, 1],
  ["a client used after it was closed", `await client.close(); await ${rerank}`, 1],
  [
    "calls that were aborted or met their deadline",
    `const controller = new AbortController();
     const scale = (options) => client.deployments.scale("held", 1, options).catch(({ code }) => code);
     const codes = [scale({ timeoutMs: 50 }), scale({ signal: controller.signal })];
     setTimeout(() => controller.abort(), 50);
     if (String(await Promise.all(codes)) !== "DEADLINE_EXCEEDED,CANCELLED") throw codes`,
    undefined,
  ],
];

test.each(programs)("a process with %s over node:http ends by itself", async (_what, script, requests) => {
  server.listen((request, response) => {
    request.resume().on("end", () => {
      if (!request.url?.includes("held")) response.end(goodText);
    });
  });
  const { exitCode, stdout, stderr } = await runScript(program(script), { URL: server.url });
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
  // How far a call got before it was ended is not what is tested.
  if (requests !== undefined) expect(server.used).toHaveLength(requests);
});

test("a process with idle TLS sockets ends by itself", async () => {
  const { exitCode, stdout } = await runScript(program(`await Promise.all([${rerank}, ${rerank}])`), {
    URL: `https://localhost:${(secure.address() as AddressInfo).port}`,
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
});

function program(script: string): string {
  return `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL, accountId: "a" });
    ${script};
    console.log("done");
  `;
}

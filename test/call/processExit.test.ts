import { createServer } from "node:https";
import { expect, test } from "vitest";
import { certificate, certificateKey } from "../support/certificate.js";
import { useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { serving } from "../support/servers.js";

// It never ends a connection: a process that ends did so by itself.
const server = useCountingServer();
const withinMs = 8_000;

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
  const { exitCode, stdout, stderr } = await runScript(program(script), { URL: server.url }, { withinMs });
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
  // How far a call got before it was ended is not what is tested.
  if (requests !== undefined) expect(server.used).toHaveLength(requests);
});

test("a process with idle TLS sockets ends by itself", async () => {
  const options = { cert: certificate, key: certificateKey, keepAliveTimeout: 0 };
  const secure = createServer(options, (request, response) => {
    request.resume().on("end", () => response.end(goodText));
  });
  const env = { URL: `https://localhost:${await serving(secure)}`, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const script = program(`await Promise.all([${rerank}, ${rerank}])`);
  const { exitCode, stdout } = await runScript(script, env, { withinMs });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
});

test("a process with an idle client over fetch ends by itself", async () => {
  const script = program(`await ${rerank}`)
    .replace("accountId", "fetch, accountId")
    .replace(/keep\w+: \w+,/, "");
  const { exitCode, stdout } = await runScript(script, { URL: server.url }, { withinMs });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
});

function program(script: string): string {
  return `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL, keepAliveMs: 600_000, accountId: "a" });
    ${script};
    console.log("done");
  `;
}

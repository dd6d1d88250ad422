// How much is read, held and taken: the limits of responses, of memory, and of the test service.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createTestService } from "../../src/testing/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

const server = useRecordingServer();
const counting = useCountingServer();
const mebibyte = 1024 * 1024;

describe.each(transports)("over $name", ({ options }) => {
  test("a whole response of 1 MiB is not cut at the end of a character, nor an error of just under 64 KiB", async () => {
    const id = "東".repeat(300_000);
    server.reply({ json: { id } });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect((job as { id?: string }).id).toBe(id);
    server.reply({ status: 404, json: { message: "x".repeat(63 * 1024), code: "NOT_FOUND" } });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "body" });
  });

  test("a few bytes that unpack to a gigabyte take no memory", async () => {
    // One member of gzip, a thousand times: together 1 GiB of spaces.
    const member = gzipSync(Buffer.alloc(mebibyte, " "), { level: 9 });
    const bomb = Buffer.concat(Array.from({ length: 1024 }, () => member));
    server.reply(({ url }) => ({
      text: bomb,
      status: url.endsWith("missing:scale") ? 404 : 200,
      headers: { "content-encoding": "gzip" },
    }));
    const script = `
      import { createClient } from "./src/index.ts";
      const client = createClient({
        baseUrl: process.env.URL, accountId: "a", maxRetries: 0${options.fetch ? ", fetch" : ""}
      });
      const before = process.resourceUsage().maxRSS;
      const told = [];
      for (const id of ["prod", "missing"]) {
        await client.deployments.scale(id, 1).catch(({ code, executed }) => told.push(code, executed));
      }
      const grownMb = Math.round((process.resourceUsage().maxRSS - before) / 1024);
      console.log(JSON.stringify({ told, grownMb }));
    `;
    const { stdout, stderr } = await runScript(script, { URL: server.url });
    expect(stderr).toBe("");
    const { told, grownMb } = JSON.parse(stdout) as { told: string[]; grownMb: number };
    expect(told).toEqual(["RESOURCE_EXHAUSTED", "yes", "NOT_FOUND", "no"]);
    expect(grownMb).toBeLessThan(80);
  });
});

test.each([
  ["client's", {}],
  ["caller's", { AGENT: "1" }],
])(
  "two thousand calls of 200 kB that ended in the queue of the %s agent leave less than 20 MB",
  async (_whose, env) => {
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
    counting.listen(() => {});
    const { stdout } = await runScript(script, { URL: counting.url, ...env }, { args: ["--expose-gc"] });
    const { codes, heldMB } = JSON.parse(stdout);
    expect(codes).toEqual(["DEADLINE_EXCEEDED no"]);
    expect(heldMB).toBeLessThan(20);
    expect(counting.used).toEqual([1]);
  },
);

test("the test service takes a file of 150 MB, and refuses one byte more with 413", async () => {
  const service = createTestService();
  const { url, close } = await service.listen();
  const most = 150 * mebibyte;
  const file = new Blob([new Uint8Array(most)]);
  expect(await connect(url).datasets.upload("reviews", file, { name: "f" })).toMatchObject({ bytes: most });
  const form = new FormData();
  form.append("file", new Blob([file, "x"]), "f");
  const request = { method: "POST", body: form, headers: { authorization: "Bearer k" } };
  for (const send of [service.fetch, fetch]) {
    const response = await send(`${url}/v1/accounts/acme/datasets/reviews:upload`, request);
    expect(response.status).toBe(413);
    const message = expect.stringContaining(`${most}`);
    expect(await response.json()).toMatchObject({ code: "INVALID_ARGUMENT", message });
  }
  await close();
});

test("100,000 calls on one signal, three in ten of which fail, leave no listener, no timer and no memory", async () => {
  const script = `
    import { getEventListeners } from "node:events";
    import { setImmediate as turn } from "node:timers/promises";
    import { createClient } from "./src/index.ts";
    let responded = 0;
    // Of ten one is refused, one is lost, and one cannot be read.
    const fetch = async () => {
      const at = responded++ % 10;
      if (at === 2) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
      return new Response(at === 3 ? "not JSON" : '{"id":"file-1","data":[]}', { status: at === 1 ? 404 : 200 });
    };
    const { signal } = new AbortController();
    const client = createClient({ baseUrl: "https://api.example.com", accountId: "a", maxRetries: 0, fetch });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const call = async (count) => {
      for (let made = 0; made < count; made += 100)
        await Promise.allSettled(Array.from({ length: 100 }, (_, i) => i % 2
          ? client.rerank({ query: "q", documents: ["d"] }, { signal })
          : client.datasets.upload("reviews", new Uint8Array(9), { name: "f", signal })));
      await turn();
      gc();
      return process.memoryUsage().heapUsed;
    };
    const before = timers();
    const heap = await call(20_000);
    const grown = (await call(80_000)) - heap;
    console.log(JSON.stringify({
      responded, listeners: getEventListeners(signal, "abort").length, timers: timers() - before, grown }));
  `;
  const { stdout } = await runScript(script, {}, { args: ["--expose-gc"] });
  const { grown, ...left } = JSON.parse(stdout);
  expect(left).toEqual({ responded: 100_000, listeners: 0, timers: 0 });
  // Less than a pointer for each call.
  expect(grown).toBeLessThan(8 * 80_000);
});

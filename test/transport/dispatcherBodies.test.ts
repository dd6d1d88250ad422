import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { Agent, Client, interceptors, Pool, ProxyAgent, RetryAgent } from "undici";
import { describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf } from "../support/clients.js";
import { ending, serving } from "../support/servers.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { until } from "../support/turns.js";

const bytes = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 251);
const file = useTemporaryFile(bytes);
const question = { query: "q", documents: ["d"] };

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await serving(createServer(listener))}`;
}
/** A client of it over a dispatcher. */
const over = (url: string, dispatcher = new Agent()) => connect(url, { dispatcher: ending(dispatcher) });

describe("an upload over a dispatcher", () => {
  test("has its exact length and every byte, from a path and from a stream of small chunks in one buffer", async () => {
    const seen: [string | undefined, Buffer][] = [];
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      seen.push([request.headers["content-length"], Buffer.concat(chunks)]);
      response.end('{"id":"reviews"}');
    });
    const client = over(url);
    const buffer = new Uint8Array(1000);
    async function* reused() {
      for (let at = 0; at < bytes.length; at += 1000) {
        buffer.set(bytes.subarray(at, at + 1000));
        yield buffer;
      }
    }
    await client.datasets.upload("reviews", file);
    await client.datasets.upload("reviews", reused(), { name: "s.jsonl" });
    await client.datasets.upload("reviews", reused(), { name: "s.jsonl", size: bytes.length });
    for (const [length, body] of seen) {
      const start = body.indexOf("\r\n\r\n") + 4;
      expect(body.subarray(start, start + bytes.length).equals(bytes)).toBe(true);
      expect(body.subarray(start + bytes.length).toString()).toMatch(/^\r\n--tunerank-\w+--\r\n$/);
      expect([undefined, String(body.length)]).toContain(length);
    }
    expect(seen.map(([length]) => length !== undefined)).toEqual([true, false, true]);
  });

  test("is read no further than the server takes it", async () => {
    const url = await serve(() => {});
    let read = 0;
    async function* endless() {
      for (; read <= 100_000_000; read += 1_000_000) yield new Uint8Array(1_000_000);
    }
    const controller = new AbortController();
    const client = over(url);
    const call = failureOf(() =>
      client.datasets.upload("reviews", endless(), { name: "s", signal: controller.signal }),
    );
    let last = -1;
    while (last !== read || read === 0) {
      last = read;
      await pause(100);
    }
    expect(read).toBeLessThan(30_000_000);
    controller.abort();
    expect(await call).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  });

  test("whose response came before all of it was sent was not taken", async () => {
    const url = await serve((_request, response) => response.end('{"id":"reviews"}'));
    async function* slow() {
      for (let i = 0; i < 100; i++) {
        yield new Uint8Array(1000);
        await pause(20);
      }
    }
    const client = over(url);
    const error = await failureOf(() => client.datasets.upload("reviews", slow(), { name: "s" }));
    expect(error.message).toContain("The response came before the whole file was sent.");
  });
});

describe("a call over a dispatcher that ends before its response", () => {
  test.each(["before the response", "inside the response"])("frees its socket %s", async (when) => {
    let isFirst = true;
    const sockets = new Set<Socket>();
    const url = await serve((request, response) => {
      sockets.add(request.socket.on("close", () => sockets.delete(request.socket)));
      if (isFirst) response.writeHead(404).end();
      else if (when === "inside the response") response.write('{"data":');
      isFirst = false;
    });
    // Idle sockets close at once: only that of a request under way could stay.
    const client = over(url, new Agent({ keepAliveTimeout: 10, keepAliveMaxTimeout: 10 }));
    // What is loaded and connected once is not within the time of the next call.
    await failureOf(() => client.rerank(question));
    const error = await failureOf(() => client.rerank(question, { timeoutMs: 500 }));
    const executed = when === "inside the response" ? "yes" : "unknown";
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed });
    await until(() => sockets.size === 0);
  });
});

describe("a file that the dispatcher would send again by itself", () => {
  const again = [
    ["a redirect", 307, () => new Agent().compose(interceptors.redirect({ maxRedirections: 3 }))],
    ["a retry", 503, () => new RetryAgent(new Agent(), { methods: ["POST"], minTimeout: 1, maxRetries: 3 })],
  ] as const;
  const sources = [
    ["a stream", () => Readable.from([bytes])],
    ["a path", () => file],
  ] as const;
  const cases = again.flatMap((way) => sources.map((source) => [...way, ...source] as const));

  test.each(cases)("after %s (%i) a file is sent once (%#)", async (_what, status, make, _source, open) => {
    const sizes: number[] = [];
    const url = await serve(async (request, response) => {
      let size = 0;
      request.on("error", () => {});
      for await (const chunk of request) size += chunk.length;
      sizes.push(size);
      if (sizes.length === 1) response.writeHead(status, { location: "/moved" }).end();
      else response.end('{"id":"reviews"}');
    });
    const client = over(url, make() as never);
    const error = await failureOf(() => client.datasets.upload("reviews", open(), { name: "s" }));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown" });
    expect(error.message).toContain("The dispatcher sends the request again by itself; a file is sent once.");
    expect(sizes.filter((size) => size > 0)).toHaveLength(1);
    expect(sizes[0]).toBeGreaterThan(bytes.byteLength);
  });
});

describe("a response over a dispatcher", () => {
  test.each([
    ["sent", {}, (bytes: Buffer) => bytes],
    ["decoded", { "content-encoding": "gzip" }, gzipSync],
  ])("larger than its cap once it is %s is not read", async (_how, headers, encode) => {
    const body = encode(Buffer.alloc(2_000_000, " "));
    const url = await serve((_request, response) => response.writeHead(200, headers).end(body));
    const error = await failureOf(() => over(url).reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes" });
  });

  test("that a RetryAgent makes an error of keeps its status", async () => {
    const url = await serve((_request, response) => response.writeHead(503, { "x-request-id": "r-2" }).end());
    const client = over(url, new RetryAgent(new Client(url), { maxRetries: 0 }) as never);
    const error = await failureOf(() => client.rerank(question));
    const details = { httpStatus: 503, codeSource: "status", requestId: "r-2" };
    expect(error).toMatchObject({ code: "UNAVAILABLE", ...details });
  });

  test("has neither the key nor the credentials of a proxy in what failed", async () => {
    const url = await serve((_request, response) => response.destroy());
    const credentials = "proxy-user:proxy-password-1";
    const proxy = url.replace("//", `//${credentials}@`);
    for (const dispatcher of [
      new ProxyAgent(proxy),
      new Agent(),
      new Pool(url, { headersTimeout: 1 } as never),
    ]) {
      const client = connect("https://service.invalid", { dispatcher: ending(dispatcher) });
      const error = await failureOf(() => client.rerank(question, { timeoutMs: 1000 }));
      const shown = inspect(error, { depth: 20, showHidden: true }) + error.stack + JSON.stringify(error);
      for (const secret of [canaryKey, "proxy-password-1", Buffer.from(credentials).toString("base64")]) {
        expect(shown).not.toContain(secret);
      }
    }
  });
});

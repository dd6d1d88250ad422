import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { Agent as UndiciAgent } from "undici";
import { afterAll, describe, expect, test, vi } from "vitest";
import { readErrorBody } from "../../src/call/errorResponse.js";
import { type Client, type ClientOptions, StatusError } from "../../src/index.js";
import { redactorOf } from "../../src/redact/redact.js";
import { wordsFor } from "../../src/transport/node/networkErrors.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { serving } from "../support/servers.js";
import { until } from "../support/turns.js";

const undici = new UndiciAgent();
afterAll(() => undici.close());
const ways: readonly { readonly name: string; readonly options: () => ClientOptions }[] = [
  { name: "node:http", options: () => ({}) },
  { name: "a dispatcher", options: () => ({ dispatcher: undici as never }) },
  { name: "fetch", options: () => ({ fetch: globalThis.fetch }) },
];

/** A service that writes raw bytes to each connection once a request has come. */
async function serve(write: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await serving(createServer((socket) => socket.once("data", () => write(socket))))}`;
}

const ask = { method: "GET", path: "/v1/x" } as const;

describe.each(ways)("over $name", ({ options }) => {
  test("a body in chunks of one byte costs little more memory than its bytes", async () => {
    const count = 400_000;
    const url = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n");
      socket.end(`${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`);
    });
    const client = connect(url, options());
    globalThis.gc?.();
    let most = 0;
    const before = process.memoryUsage().heapUsed;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }, 1);
    const call = client.request<string>(ask);
    const text = await call;
    clearInterval(timer);
    expect(text).toBe("x".repeat(count));
    // With an object for each byte it is 100 MB and more.
    expect(most / count).toBeLessThan(150);
  });
});

describe.each(ways)("over $name", ({ options }) => {
  test.each([
    ["a header of 128 KiB", `HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(131_072)}\r\n\r\n`],
    ["a bare LF", "HTTP/1.1 200 OK\ncontent-length: 2\n\n{}"],
    ["SSH", "SSH-2.0-OpenSSH_9.2p1\r\n"],
  ])("%s is named, and asked for once more where that is safe", async (_what, bytes) => {
    let sent = 0;
    const url = await serve((socket) => {
      sent += 1;
      socket.write(bytes);
    });
    const client = connect(url, { ...options(), maxRetries: 2 });
    const ranked = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
    expect(ranked).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(ranked.message).toMatch(/The response is not (valid )?HTTP/);
    expect(sent).toBe(2);
    const resumed = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(resumed.attempts).toHaveLength(1);
  });
});

describe("a client made by withOptions that is closed with a call in flight", () => {
  const server = useCountingServer();

  test("leaves keep-alive to the first client", async () => {
    const base = connect(server.url, { maxConnections: 7 });
    const derived = base.withOptions({});
    let arrived = 0;
    server.listen((request, response) => {
      request.resume().on("end", () => {
        arrived += 1;
        if (arrived > 1) response.end(goodText);
      });
    });
    const lost = failureOf(() => derived.rerank({ query: "q", documents: ["d"] }));
    await until(() => arrived === 1);
    await Promise.all([derived.close(), lost]);
    for (let i = 0; i < 10; i++) await base.rerank({ query: "q", documents: ["d"] });
    expect(server.connections).toBe(2);
    await base.close();
  });
});

test("an upload over fetch that was aborted stops reading an endless stream", async () => {
  let read = 0;
  let returned = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yield new Uint8Array(1000);
        read += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      returned = true;
    }
  }
  const controller = new AbortController();
  const client = connect("http://127.0.0.1:1", { fetch: globalThis.fetch });
  const call = failureOf(() =>
    client.datasets.upload("reviews", endless(), { name: "a", signal: controller.signal }),
  );
  await until(() => read > 3);
  controller.abort();
  expect((await call).code).toBe("CANCELLED");
  const readAtEnd = read;
  await until(() => returned);
  expect(read - readAtEnd).toBeLessThan(3);
});

describe("opening a file", () => {
  test.each(["EMFILE", "ENFILE", "EIO", "ESTALE", "ENOMEM"])("%s is a lack of this machine", async (code) => {
    const { openPath } = await import("../../src/files/diskFile.js");
    const fs = process.getBuiltinModule("node:fs/promises");
    const open = vi.spyOn(fs, "open").mockRejectedValue(Object.assign(new Error(code), { code }));
    const error = await failureOf(() => openPath("/x/train.jsonl", undefined));
    open.mockRestore();
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(error.hint).toContain("this process");
  });
});

test("60,000 hexadecimal digits in a foreign error take no time", () => {
  const text = "A".repeat(60_000);
  const before = process.cpuUsage();
  expect(wordsFor(text, new Error(text))).toBe(text);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(300);
});

test("an error body of 64 KiB of backslashes costs no more than what is kept of it", () => {
  const redact = redactorOf([canaryKey]);
  const time = (text: string): number => {
    const before = process.cpuUsage();
    for (let i = 0; i < 5; i++) readErrorBody(text, 500, redact);
    return process.cpuUsage(before).user;
  };
  time("\\".repeat(65_536));
  expect(time("\\".repeat(65_536))).toBeLessThan(8 * Math.max(time("\\".repeat(4096)), 2000));
});

describe("over fetch", () => {
  const server = useCountingServer();
  const asked = async (call: (client: Client) => Promise<unknown>): Promise<object> => {
    let seen: object = {};
    const own = (url: string, init: object) => {
      seen = init;
      return fetch(url, init);
    };
    await call(connect(server.url, { fetch: own as never }));
    return seen;
  };

  test("no request is answered from a cache, and a resume asks for a connection of its own", async () => {
    expect(await asked((client) => client.rerank({ query: "q", documents: ["d"] }))).toMatchObject({
      cache: "no-store",
      keepalive: undefined,
    });
    const resumed = await asked((client) => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(resumed).toMatchObject({ cache: "no-store", keepalive: false });
  });

  test.each([
    ["a forbidden port", "http://127.0.0.1:6000", {}],
    ["an expect header", undefined, { expect: "100-continue" }],
  ])("%s is refused before anything is sent, once", async (_what, baseUrl, headers) => {
    const client = connect(baseUrl ?? server.url, { fetch: globalThis.fetch, maxRetries: 2 });
    const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }, { headers }));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "no" });
    expect(error.attempts.length).toBeLessThan(2);
    expect(server.used).toEqual([]);
  });

  test("Node's own limit of 300 s is a deadline, whose advice names the dispatcher", async () => {
    const cause = Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    const own = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const error = await failureOf(() =>
      connect(server.url, { fetch: own }).reinforcementFineTuningJobs.resume("job-1"),
    );
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(error.hint).toContain("dispatcher");
  });
});

test("a StatusError is an instance before its constructor has ended, as code compiled to ES5 asks", () => {
  expect(Object.create(StatusError.prototype) instanceof StatusError).toBe(true);
});

test("a proxy whose response to CONNECT has no end is given up after 64 KiB", async () => {
  let written = 0;
  const proxy = await serve((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = (): void => {
      if (socket.destroyed) return;
      written += 16_384;
      socket.write(`x-filler: ${"x".repeat(16_370)}\r\n`, more);
    };
    more();
  });
  const client = connect("https://service.test", { proxy, connectTimeoutMs: 5000 });
  const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
  expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
  expect(error.message).toContain("no end");
  expect(written).toBeLessThan(8_000_000);
});

test("any 2xx of a proxy opens a tunnel", async () => {
  const proxy = await serve((socket) => {
    socket.on("data", () => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`);
    });
    socket.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const client = connect("http://service.test", { proxy, allowInsecureHttp: true });
  expect((await client.rerank({ query: "q", documents: ["d"] })).data).toHaveLength(1);
});

test.each(["http://service.test", "https://service.test"])(
  "a proxy's 429 with a time is a limit: %s",
  async (baseUrl) => {
    let sent = "";
    const proxy = await serve((socket) => {
      socket.on("data", (bytes) => {
        sent += bytes;
      });
      socket.write("HTTP/1.1 429 Slow\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n");
    });
    const client = connect(baseUrl, { proxy, allowInsecureHttp: true });
    const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "no", retryAfterMs: 120_000 });
    expect(error.notRetried).toBe("asked-to-wait-too-long");
    expect(sent).toBe("");
  },
);

test.skipIf(process.platform !== "linux")(
  "TCP probes an idle connection after 30 s, not after 1 s",
  async () => {
    const url = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`);
    });
    await connect(url).rerank({ query: "q", documents: ["d"] });
    const port = Number(new URL(url).port);
    // Of each connection: its addresses, state and queues; then its timer (2: keep-alive) and when that is due, in hundredths.
    const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")} 01 `;
    const own = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .find((line) => line.includes(remote));
    const [, timer, due = ""] = / (\d\d):([0-9A-F]{8}) /.exec(own ?? "") ?? [];
    expect(timer).toBe("02");
    expect(Number.parseInt(due, 16)).toBeGreaterThan(2_000);
  },
);

describe("a stack names the line of the caller", () => {
  const server = useCountingServer();
  const wrong: readonly [string, (client: Client) => Promise<unknown>][] = [
    ["rerank", (client) => client.rerank({ query: "q", documents: [] })],
    ["an option", (client) => client.rerank({ query: "q", documents: ["d"] }, { timeoutMs: -1 })],
    [
      "an unknown option",
      (client) => client.rerank({ query: "q", documents: ["d"] }, { timeout: 1 } as never),
    ],
    ["a header", (client) => client.rerank({ query: "q", documents: ["d"] }, { headers: { host: "a" } })],
    ["resume", (client) => client.reinforcementFineTuningJobs.resume("a/b")],
    ["scale", (client) => client.deployments.scale("prod", -1)],
    ["upload", (client) => client.datasets.upload("reviews", "/nowhere/train.jsonl")],
    ["request", (client) => client.request({ method: "GET", path: "x" })],
    ["rerank.items", (client) => client.rerank.items("q", ["d"], { text: 1 } as never)],
  ];
  test.each(wrong)("of a wrong argument: %s", async (_what, call) => {
    const client = connect(server.url);
    const callsHere = async (): Promise<unknown> => await call(client);
    expect((await failureOf(callsHere)).stack).toContain("callsHere");
  });

  test("of a call that fails, also by withResponse()", async () => {
    const client = connect(
      await serve((socket) => socket.end("HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n")),
    );
    const callsHere = async (): Promise<unknown> => await client.rerank({ query: "q", documents: ["d"] });
    const asksHere = async (): Promise<unknown> =>
      await client.rerank({ query: "q", documents: ["d"] }).withResponse();
    expect((await failureOf(callsHere)).stack).toContain("callsHere");
    expect((await failureOf(asksHere)).stack).toContain("asksHere");
  });
});

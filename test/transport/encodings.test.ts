import { createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { Agent } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import type { Client, ClientOptions, FetchLike } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { goodJson, goodText } from "../support/responses.js";
import { serving } from "../support/servers.js";
import { until } from "../support/turns.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();
const dispatcher = new Agent();
afterAll(() => dispatcher.close());
const ways = [...transports, { name: "a dispatcher", options: { dispatcher } as ClientOptions }];
const ofNode = ways.filter(({ name }) => name !== "fetch");

function encoded(encoding: string, bytes: Uint8Array, status = 200): Reply {
  return { status, text: bytes, headers: { "content-encoding": encoding } };
}

describe("an encoding that was asked for", () => {
  // Numbers the sockets, of which none is shared with another test.
  const counting = useCountingServer();

  // Long enough to be spread over many reads, and text that is cut in half when it is split between bytes.
  const documents = Array.from({ length: 2_000 }, (_, index) => `Straße №${index} — 東京 🚄`);
  const json = {
    object: "list",
    data: documents.map((document, index) => ({ index, relevance_score: 1 / (index + 1), document })),
  };
  const text = JSON.stringify(json);

  const encodings: readonly (readonly [encoding: string, encode: (text: string) => Uint8Array])[] = [
    ["gzip", (text) => gzipSync(text)],
    ["x-gzip", (text) => gzipSync(text)],
    ["GZip", (text) => gzipSync(text)],
    ["deflate", (text) => deflateSync(text)],
    ["br", (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ["identity", (text) => Buffer.from(text)],
    // Without the zlib wrapper, as some servers send it; and in several members.
    ["deflate", (text) => deflateRawSync(text)],
    ["gzip", (text) => Buffer.concat([text.slice(0, 9), text.slice(9)].map((part) => gzipSync(part)))],
  ];

  const compressed = [encodings[0], encodings[3]] as typeof encodings;

  describe.each(transports)("over $name", ({ options }) => {
    const rerank = () => connect(server.url, options).rerank({ query: "q", documents });

    test.each(encodings)("a response encoded with %s is decoded", async (encoding, encode) => {
      server.reply(encoded(encoding, encode(text)));
      expect(await rerank()).toEqual(json);
    });

    test.each(encodings)("an error body encoded with %s is understood", async (encoding, encode) => {
      server.reply(encoded(encoding, encode('{"code":"NOT_FOUND","message":"No such model."}'), 404));
      const error = await failureOf(rerank);
      expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "body", httpStatus: 404, executed: "no" });
      expect(error.message).toBe(withHint("[NOT_FOUND] No such model.", error));
    });

    const broken = encodings.slice(0, -2).filter(([encoding]) => encoding !== "identity");

    test("a 2xx response with gzip that is none ran, and says that it cannot be decoded", async () => {
      server.reply(encoded("gzip", Buffer.from("<html>not compressed at all</html>")));
      const error = await failureOf(rerank);
      expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", httpStatus: 200 });
      const said = options.fetch ? "The request failed: " : "The response's body cannot be decoded: ";
      expect(error.message).toContain(said);
    });

    test.each(broken)("an error response with broken %s counts with its status", async (encoding, encode) => {
      const whole = encode('{"code":"INVALID_ARGUMENT"}');
      for (const bytes of [whole.subarray(0, 6), Buffer.from("not compressed at all")]) {
        server.reply(encoded(encoding, bytes, 404));
        const error = await failureOf(rerank);
        expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", executed: "no" });
      }
    });
  });

  describe.each(ofNode)("over $name", ({ options }) => {
    test.each(compressed)(
      "what arrived of an error body in %s is kept if the rest is lost",
      async (encoding, encode) => {
        const workers = Array.from({ length: 200 }, (_, worker) => `worker ${worker ** 2} restarts`);
        const bytes = encode(JSON.stringify({ message: workers.join(", ") }));
        server.reply((_request, response) => {
          response.writeHead(500, { "content-encoding": encoding, "content-length": bytes.length });
          response.write(bytes.subarray(0, bytes.length - 100), () =>
            setTimeout(() => response.destroy(), 100),
          );
          return undefined;
        });
        const error = await failureOf(() => connect(server.url, options).rerank({ query: "q", documents }));
        expect(error).toMatchObject({ httpStatus: 500, executed: "unknown" });
        expect(error.text).toContain("worker 0 restarts, worker 1 restarts");
      },
    );
  });

  test.each(encodings)(
    "over node:http a response encoded with %s leaves its socket for the next call",
    async (encoding, encode) => {
      counting.listen((_request, response) => {
        response.writeHead(200, { "content-encoding": encoding }).end(encode(text));
      });
      const client = connect(counting.url, { maxConnections: 1 });
      for (let call = 0; call < 3; call++)
        expect(await client.rerank({ query: "q", documents })).toEqual(json);
      expect(counting.used).toEqual([1, 1, 1]);
    },
  );

  const all = "gzip, deflate, br";
  const long = { query: "q", documents: ["A long one. ".repeat(200)] };
  test.each<[what: string, asked: string | undefined, call: (client: Client) => Promise<unknown>]>([
    ["a rerank of long documents", all, (client) => client.rerank(long)],
    ["an upload", all, ({ datasets }) => datasets.upload("reviews", new Uint8Array(3), { name: "a.jsonl" })],
    [
      "a request of the caller's own",
      all,
      ({ request }) => request({ method: "POST", path: "/x", body: {} }),
    ],
    // It promises nothing that the client cannot decode.
    [
      "a call with a header of its own",
      all,
      ({ deployments }) => deployments.scale("prod", 1, { headers: { "Accept-Encoding": "zstd" } }),
    ],
    ["a short rerank", undefined, (client) => client.rerank({ query: "q", documents: ["d"] })],
    ["a scaling", undefined, ({ deployments }) => deployments.scale("prod", 1)],
    ["a resume", undefined, ({ reinforcementFineTuningJobs: jobs }) => jobs.resume("job-1")],
  ])("over node:http %s asks for the encodings %s", async (_what, asked, call) => {
    await call(connect(server.url));
    const { rawHeaders, headers } = server.only;
    expect(headers["accept-encoding"]).toBe(asked);
    expect(rawHeaders.filter((text) => /^accept-encoding$/i.test(text))).toHaveLength(asked ? 1 : 0);
  });
});

describe("an encoding that was not", () => {
  describe.each(ofNode)("over $name", ({ options }) => {
    const rerank = (client = connect(server.url, options)) => client.rerank({ query: "q", documents: ["d"] });

    test.each([" , identity,gzip", "GZIP, identity"])("%j is gzip alone", async (encoding) => {
      server.reply(encoded(encoding, gzipSync(goodText)));
      expect(await rerank()).toEqual(goodJson);
    });

    const notUndone = (encoding: string) =>
      `The response is encoded as "${encoding}", which this client does not undo.`;

    test.each(["gzip, gzip", "zstd", canaryKey])(
      "in %s, which the client does not undo, a call ran, and an error has the code of its status and no body",
      async (encoding) => {
        const text = notUndone(encoding === canaryKey ? "[redacted]" : encoding);
        server.reply(encoded(encoding, gzipSync(gzipSync(goodText))));
        const ran = await failureOf(() => rerank(connect(server.url, { ...options, maxRetries: 2 })));
        const details = { executed: "yes", httpStatus: 200, codeSource: "client" };
        expect(ran).toMatchObject({ code: "INTERNAL", text, ...details });
        expect(server.requests).toHaveLength(2);
        server.reply(encoded(encoding, gzipSync('{"code":"UNAVAILABLE"}'), 404));
        const error = await failureOf(rerank);
        expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", executed: "no", text });
        expect(error.body).toBeUndefined();
      },
    );

    test("an encoding in two headers counts twice", async () => {
      server.reply((_request, response) => {
        response.writeHead(200, [
          ["content-encoding", "gzip"],
          ["Content-Encoding", "gzip"],
        ] as never);
        response.end(gzipSync(goodText));
        return undefined;
      });
      expect((await failureOf(rerank)).text).toBe(notUndone("gzip, gzip"));
    });
  });

  test("over node:http what the client does not undo leaves its socket for the next call", async () => {
    const sockets = new Set<unknown>();
    server.keepSocketsOpen();
    server.reply((_request, response) => {
      sockets.add(response.socket);
      return encoded("compress", Buffer.alloc(1_000), 404);
    });
    const client = connect(server.url, { maxRetries: 0 });
    for (let i = 0; i < 3; i++) await failureOf(() => client.deployments.scale("prod", 1));
    expect(sockets.size).toBe(1);
  });
});

// The most bytes of a response.
const tooLarge = { code: "RESOURCE_EXHAUSTED", executed: "yes" };

const failed = (options: ClientOptions, maxResponseBytes: number) =>
  failureOf(() =>
    connect(server.url, options).request({ method: "GET", path: "/v1/all" }, { maxResponseBytes }),
  );

test("compressed bytes that decode to nothing count, too", async () => {
  // Each member of gzip takes 20 bytes, and decodes to none.
  const members = Buffer.concat(Array<Buffer>(20_000).fill(gzipSync("")));
  server.reply({ headers: { "content-encoding": "gzip" }, text: members });
  expect(await failed({}, 100_000)).toMatchObject(tooLarge);
});

test.each(transports)(
  "over $name the cap is that of the whole, in however many pieces it comes",
  async ({ options }) => {
    let sent = 0;
    server.reply((_request, response) => {
      const more = (): void => {
        if (sent++ < 30) response.write("x".repeat(100), () => setTimeout(more, 2));
        else response.end();
      };
      return more() as undefined;
    });
    expect(await failed(options, 1000)).toMatchObject(tooLarge);
  },
);

test.each(ways)(
  "over $name a body in chunks of one byte costs little more memory than its bytes",
  async (way) => {
    const count = 400_000;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
    const bytes = `${head}${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`;
    const port = await serving(createServer((socket) => socket.once("data", () => socket.end(bytes))));
    globalThis.gc?.();
    let most = 0;
    const before = process.memoryUsage().heapUsed;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }, 1);
    const text = await connect(`http://127.0.0.1:${port}`, way.options).request<string>({
      method: "GET",
      path: "/v1/x",
    });
    clearInterval(timer);
    expect(text).toBe("x".repeat(count));
    // With an object for each byte it is 100 MB and more.
    expect(most / count).toBeLessThan(150);
  },
);

test("a response that is too large is read no further, even if the fetch function heeds no signal", async () => {
  let [read, isCancelled] = [0, false];
  const fetch: FetchLike = async () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await turn();
          controller.enqueue(new Uint8Array(100));
          if (++read === 200) controller.close();
        },
        cancel: () => {
          isCancelled = true;
        },
      }),
    );
  expect(await failed({ fetch }, 1000)).toMatchObject(tooLarge);
  await until(() => isCancelled || read === 200);
  expect(read).toBeLessThan(20);
});

import zlib, { gzipSync } from "node:zlib";
import { Agent } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { goodJson, goodText } from "../support/answers.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

/** Node 22.15 and newer. */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Uint8Array };

function encoded(encoding: string, bytes: Uint8Array, status = 200): Reply {
  return { status, text: bytes, headers: { "content-encoding": encoding } };
}

// Encodings that this client did not ask for.
const dispatcher = new Agent();
afterAll(() => dispatcher.close());

describe.each([
  { name: "node:http", options: {} },
  { name: "a dispatcher", options: { dispatcher } },
])("over $name", ({ options }) => {
  const rerank = (client = connect(server.url, options)) => client.rerank({ query: "q", documents: ["d"] });

  test.each([" , identity,gzip", "GZIP, identity"])("%j is gzip alone", async (encoding) => {
    server.reply(encoded(encoding, gzipSync(goodText)));
    expect(await rerank()).toEqual(goodJson);
  });

  test("zstd is decoded where the platform can, and only as a whole", async () => {
    const bytes = zstdCompressSync?.(goodText) ?? Buffer.from(goodText);
    server.reply(encoded("zstd", bytes));
    if (zstdCompressSync) expect(await rerank()).toEqual(goodJson);
    else expect((await failureOf(rerank)).text).toBe(notUndone("zstd"));
    server.reply(encoded("zstd", Buffer.concat([bytes, Buffer.from("more")])));
    const get = () => connect(server.url, options).request({ method: "GET", path: "/x" });
    expect(await failureOf(get)).toMatchObject({ code: "INTERNAL", executed: "yes" });
  });

  const notUndone = (encoding: string) =>
    `The response is encoded as "${encoding}", which this client does not undo.`;

  describe.each(["gzip, gzip", "compress", canaryKey])(
    "in %s, which the client does not undo",
    (encoding) => {
      const named = notUndone(encoding === canaryKey ? "[redacted]" : encoding);

      test.each(operationCalls)(
        "$operation ran: INTERNAL, like what is not JSON, with the encoding",
        async ({ operation, call }) => {
          server.reply(encoded(encoding, gzipSync(gzipSync(goodText))));
          const error = await failureOf(() => call(connect(server.url, { ...options, maxRetries: 2 })));
          expect(error).toMatchObject({
            code: "INTERNAL",
            executed: "yes",
            httpStatus: 200,
            codeSource: "client",
            text: named,
          });
          expect(server.requests).toHaveLength(operation === "rerankDocuments" ? 2 : 1);
        },
      );

      test("nothing is made of what request takes as it is", async () => {
        server.reply(encoded(encoding, Buffer.from("plain")));
        const error = await failureOf(() =>
          connect(server.url, options).request({ method: "GET", path: "/x" }),
        );
        expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", text: named });
      });

      test("an error has the code of its status, and no body", async () => {
        server.reply(encoded(encoding, gzipSync('{"code":"UNAVAILABLE"}'), 404));
        const error = await failureOf(rerank);
        expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", executed: "no", text: named });
        expect(error.body).toBeUndefined();
      });
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

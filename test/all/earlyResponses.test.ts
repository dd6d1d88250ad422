import { truncate, writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";
import { isPending, soon, until } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";
import { withHint } from "../support/withHint.js";

const server = useCountingServer();
const clock = useTestClock();
expectNothingUnhandled();
// More than what the network's buffers hold: the response comes while most of it has not been sent.
const size = 32 * 1024 * 1024;
let file: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const { folder, remove: removeFolder } = await temporaryFolder();
  remove = removeFolder;
  file = path.join(folder, "train.jsonl");
  await writeFile(file, "");
  await truncate(file, size);
});
afterAll(() => remove());

const chunk = new Uint8Array(1024 * 1024);
async function* stream(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < size; sent += chunk.byteLength) yield chunk;
}

const sources: readonly (readonly [what: string, source: () => UploadFile])[] = [
  ["a path", () => file],
  ["bytes", () => new Uint8Array(size)],
  ["a Blob", () => new Blob([new Uint8Array(size)])],
  ["a stream", stream],
];

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json" }).end('{"message":"Not this file."}');
}

/** What a server does after it has refused, with most of the file still to come. */
const manners: readonly (readonly [what: string, listener: (status: number) => RequestListener])[] = [
  [
    "at once, and reads the rest",
    (status) => (request, response) => {
      request.on("error", () => {}).resume();
      refuse(response, status);
    },
  ],
  [
    "at once, and reads nothing",
    (status) => (request, response) => {
      request.on("error", () => {}).pause();
      response.writeHead(status, { "content-type": "application/json", "content-length": "28" });
      // Not ended: Node would then read the rest to use the connection again.
      response.write('{"message":"Not this file."}');
    },
  ],
];

const followed = transports.flatMap(({ name, options }) =>
  sources.map(([what, source]) => ({ name, options, what, source })),
);

test.each(followed)(
  "over $name a large upload of $what that is accepted before it is there is no success",
  async ({ name, options, source }) => {
    let requests = 0;
    server.listen((request, response) => {
      requests += 1;
      request.on("error", () => {}).pause();
      response.writeHead(200, { "content-type": "application/json", "content-length": "2" });
      response.write("{}");
    });
    const client = connect(server.url, options);
    const upload = { name: "train.jsonl", timeoutMs: 5_000 };
    const running = failureOf(() => client.datasets.upload("reviews", source(), upload));
    // As long as an upload may stand still after its response, and once more where some of it was taken meanwhile; a fetch function
    // does not tell what was sent.
    if (name === "node:http") while (await isPending(running)) if (clock.isAwaited(1_000)) clock.pass(1_000);
    const error = await running;
    expect(error).toMatchObject({ code: "INTERNAL", httpStatus: 200, executed: "yes" });
    expect(error.message).toBe(
      withHint("[INTERNAL] The response came before the whole file was sent.", error),
    );
    expect(requests).toBe(1);
  },
);

// A slow link takes nothing for seconds, then all that its buffers have room for.
const step = 4 * 1024 * 1024;
test.each(sources)(
  "a large upload of %s that is accepted at once, then taken slowly, succeeds",
  async (_what, source) => {
    const received = new Promise<number>((resolve) => {
      server.listen(async (request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write('{"id":"file-1"}');
        response.end();
        let bytes = 0;
        for await (const { length } of request) {
          // By then the client has the response, and waits.
          if ((bytes % step) + length > step && bytes > step) clock.pass(1_500);
          bytes += length;
        }
        resolve(bytes);
      });
    });
    const upload = { name: "train.jsonl", timeoutMs: 500_000 };
    const stored = await connect(server.url).datasets.upload("reviews", source(), upload);
    expect(stored).toEqual({ id: "file-1" });
    expect(await soon(received, "the whole file", 60_000)).toBeGreaterThan(size);
  },
);

describe.each(transports)("over $name", ({ options, name }) => {
  describe("a large upload that is refused", () => {
    const [httpStatus, code] = [413, "INVALID_ARGUMENT"];
    describe.each(manners)("%s", (_how, listener) => {
      test.each(sources)("of %s rejects with that response: it never ran", async (_what, source) => {
        server.listen(listener(httpStatus));
        const upload = { name: "train.jsonl" };
        const client = connect(server.url, options);
        const error = await failureOf(() => client.datasets.upload("reviews", source(), upload));
        expect(error).toMatchObject({ code, httpStatus, executed: "no", codeSource: "status" });
        expect(error.message).toBe(withHint(`[${code}] Not this file.`, error));
        server.listen(respond);
        await client.datasets.upload("reviews", new Uint8Array(9), upload);
        await client.deployments.scale("prod", 1);
        if (name === "node:http") expect(server.used).toEqual([1, 2, 2]);
      });
    });
  });

  test.each(sources)(
    "an upload of %s to a server that stops reading ends at its deadline",
    async (_what, source) => {
      const stopped = new Promise<IncomingMessage>((resolve) => {
        server.listen((request) => {
          request.on("error", () => {}).once("data", () => resolve(request.pause()));
        });
      });
      const client = connect(server.url, options);
      const upload = { name: "train.jsonl", timeoutMs: 1_000 };
      const running = failureOf(() => client.datasets.upload("reviews", source(), upload));
      const request = await soon(stopped, "the first bytes");
      expect(await isPending(running)).toBe(true);
      clock.pass(1_000);
      const error = await running;
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown", codeSource: "client" });
      // A server that reads on finds the rest missing.
      request.resume();
      await until(() => request.closed);
      expect(request.complete).toBe(false);
    },
  );
});

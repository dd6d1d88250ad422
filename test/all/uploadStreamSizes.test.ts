import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { StatusError, UploadFile, UploadOptions } from "../../src/index.js";
import { goodText } from "../support/answers.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";

const server = useCountingServer();
const mebibyte = 1024 * 1024;
const limit = 150 * mebibyte;

// One chunk again and again: as large as one likes, and no memory.
const chunk = new Uint8Array(mebibyte);
async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield chunk;
}

const streams: readonly (readonly [what: string, of: (count: number) => UploadFile])[] = [
  ["a Readable", (count) => Readable.from(mebibytes(count))],
  ["an async iterable", mebibytes],
];

/** What the server got of a body: the bytes, and whether its end came. */
interface Received {
  readonly bytes: number;
  readonly complete: boolean;
}

/** Counts what comes and answers what comes whole; each body is told of when it ended, whichever way. */
function countBodies(): Promise<Received> {
  return new Promise((resolve) => {
    server.listen((request, response) => {
      let bytes = 0;
      request
        .on("data", (data: Buffer) => {
          bytes += data.byteLength;
        })
        .on("end", () => response.end(goodText))
        .on("error", () => {})
        .on("close", () => resolve({ bytes, complete: request.complete }));
    });
  });
}

describe.each(transports)("over $name", ({ options, name }) => {
  const nodeHttp = name === "node:http";

  function upload(file: UploadFile, more?: UploadOptions): Promise<unknown> {
    return connect(server.url, options).datasets.upload("reviews", file, { name: "train.jsonl", ...more });
  }

  /** Through fetch the stream is read whole first, so that nothing was sent; node:http had begun. */
  async function expectIncomplete(error: StatusError, received: Promise<Received>): Promise<void> {
    expect(error.executed).toBe(nodeHttp ? "unknown" : "no");
    expect(error.codeSource).toBe("client");
    if (nodeHttp) expect((await received).complete).toBe(false);
    else expect(server.connections).toBe(0);
  }

  describe.each(streams)("%s", (_what, of) => {
    test.each([
      ["fewer bytes", 3 * mebibyte + 1],
      ["many fewer bytes", 100 * mebibyte],
      ["more bytes", 3 * mebibyte - 1],
      ["many more bytes", 1],
      ["any bytes", 0],
    ])("that has %s than its size is FAILED_PRECONDITION, and never arrives whole", async (_how, size) => {
      const received = countBodies();
      const error = await failureOf(() => upload(of(3), { size }));
      expect(error.code).toBe("FAILED_PRECONDITION");
      expect(error.message).toContain(String(size));
      await expectIncomplete(error, received);
    });

    test("that has no bytes, and a size, is FAILED_PRECONDITION", async () => {
      const received = countBodies();
      const error = await failureOf(() => upload(of(0), { size: 1 }));
      expect(error.code).toBe("FAILED_PRECONDITION");
      await expectIncomplete(error, received);
    });

    test("longer than one request takes is OUT_OF_RANGE, and never arrives whole", async () => {
      const received = countBodies();
      const error = await failureOf(() => upload(of(151)));
      expect(error.code).toBe("OUT_OF_RANGE");
      expect(error.message).toContain(String(limit));
      await expectIncomplete(error, received);
    });
  });

  test("a stream without end is left at the limit: no more of it is read", async () => {
    void countBodies();
    let given = 0;
    let ended = false;
    async function* endless() {
      try {
        for (;;) {
          given += chunk.byteLength;
          yield chunk;
        }
      } finally {
        ended = true;
      }
    }
    expect((await failureOf(() => upload(endless()))).code).toBe("OUT_OF_RANGE");
    expect(given).toBeLessThanOrEqual(limit + 2 * mebibyte);
    expect(ended).toBe(true);
  });

  test("a stream of just what one request takes arrives whole", async () => {
    const received = countBodies();
    await upload(mebibytes(150));
    const { bytes, complete } = await received;
    expect(complete).toBe(true);
    expect(bytes).toBeGreaterThan(limit);
  });

  test("a client can be used after a stream that was not what its size said", async () => {
    void countBodies();
    const client = connect(server.url, options);
    await failureOf(() => client.datasets.upload("reviews", mebibytes(2), { name: "x", size: 5 }));
    await client.datasets.upload("reviews", mebibytes(2), { name: "x", size: 2 * mebibyte });
    await client.deployments.scale("prod", 1);
    if (nodeHttp) expect(server.used).toEqual([1, 2, 2]);
  });
});

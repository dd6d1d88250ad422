import { chmodSync, closeSync, linkSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { StatusError, UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";
import { sha256 } from "../support/recordingServer.js";
import { goodText } from "../support/responses.js";
import { soon } from "../support/turns.js";

const server = useCountingServer();

describe("a file that is rewritten", () => {
  // More than what the network's buffers hold: the change comes while most of it has not been read.
  const content = Buffer.alloc(24 * 1024 * 1024, "a");
  const other = Buffer.alloc(content.byteLength, "b");
  let folder: string;
  let file: string;
  let tests = 0;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
  });
  beforeEach(async () => {
    file = path.join(folder, `train-${++tests}.jsonl`);
    await writeFile(file, content);
    // Written long ago: the test does not depend on how fine the clock of the file system is.
    await utimes(file, 1_000_000_000, 1_000_000_000);
  });
  afterAll(() => remove());

  function writeAt(position: number, bytes: Uint8Array): void {
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, bytes, 0, bytes.byteLength, position);
    closeSync(descriptor);
  }

  const rewrites: readonly (readonly [how: string, rewrite: () => void])[] = [
    ["is rewritten in place", () => writeFileSync(file, other)],
    ["has its first byte written", () => writeAt(0, other.subarray(0, 1))],
    ["has its last byte written", () => writeAt(content.byteLength - 1, other.subarray(0, 1))],
    ["is written with what it has", () => writeAt(0, content.subarray(0, 1))],
  ];

  const harmless: readonly (readonly [how: string, change: () => void])[] = [
    ["gets other permissions", () => chmodSync(file, 0o600)],
    ["gets another name", () => renameSync(file, `${file}.moved`)],
    ["gets a second name", () => linkSync(file, `${file}.linked`)],
    [
      "is replaced by another through a rename",
      () => {
        writeFileSync(`${file}.new`, other);
        renameSync(`${file}.new`, file);
      },
    ],
  ];

  /** What the server got: the hash of the file part's bytes, and whether the body came whole. */
  interface Received {
    readonly sha256: string;
    readonly complete: boolean;
  }

  /** Runs `change` once the first bytes came, which are held back until it is done. */
  function changeOnFirstBytes(change: () => void): Promise<Received> {
    return new Promise((resolve) => {
      server.listen((request, response) => {
        const chunks: Buffer[] = [];
        request.once("data", change);
        request
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", () => response.end(goodText))
          .on("error", () => {})
          .on("close", () => {
            const body = Buffer.concat(chunks);
            const start = body.indexOf("\r\n\r\n") + 4;
            const bytes = body.subarray(start, start + content.byteLength);
            resolve({ sha256: sha256(bytes), complete: request.complete });
          });
      });
    });
  }

  describe.each(transports)("over $name", ({ options }) => {
    test.each(rewrites)(
      "a file that %s while it is sent is FAILED_PRECONDITION, and never arrives whole",
      async (_how, rewrite) => {
        const received = changeOnFirstBytes(rewrite);
        const error = await failureOf(() => connect(server.url, options).datasets.upload("reviews", file));
        expect(error).toMatchObject({
          code: "FAILED_PRECONDITION",
          executed: "unknown",
          codeSource: "client",
        });
        expect(error.message).toContain("changed");
        expect((await soon(received, "the end of the body", 60_000)).complete).toBe(false);
      },
    );

    test.each(rewrites)("a file that %s before it is sent is refused", async (_how, rewrite) => {
      // The key is asked for after the file was opened and before anything is sent.
      const apiKey = async () => {
        rewrite();
        return "key";
      };
      const client = connect(server.url, { ...options, apiKey });
      const error = await failureOf(() => client.datasets.upload("reviews", file));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no", codeSource: "client" });
      expect(error.attempts).toEqual([]);
      expect(server.connections).toBe(0);
    });

    test("a file that is rewritten before a second try is not sent again", async () => {
      let requests = 0;
      server.listen((request, response) => {
        requests += 1;
        request
          .on("end", () => {
            writeFileSync(file, other);
            response.writeHead(503, { "retry-after-ms": "1" }).end('{"code":"UNAVAILABLE"}');
          })
          .resume();
      });
      const client = connect(server.url, { ...options, maxRetries: 2 });
      const error = await failureOf(() => client.datasets.upload("reviews", file));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "client" });
      expect(error.attempts).toMatchObject([{ code: "UNAVAILABLE" }]);
      expect(requests).toBe(1);
    });

    test.skipIf(process.platform === "win32").each(harmless)(
      "a file that %s while it is sent arrives as it was",
      async (_how, change) => {
        const received = changeOnFirstBytes(change);
        await connect(server.url, options).datasets.upload("reviews", file);
        expect(await soon(received, "the end of the body", 60_000)).toEqual({
          sha256: sha256(content),
          complete: true,
        });
      },
    );

    test.skipIf(process.platform === "win32").each(harmless)(
      "a file that %s before it is sent arrives as it was when the call began",
      async (_how, change) => {
        const received = changeOnFirstBytes(() => {});
        const apiKey = async () => {
          change();
          return "key";
        };
        await connect(server.url, { ...options, apiKey }).datasets.upload("reviews", file);
        expect(await soon(received, "the end of the body", 60_000)).toEqual({
          sha256: sha256(content),
          complete: true,
        });
      },
    );
  });
});

describe("the size of a stream", () => {
  const mebibyte = 1024 * 1024;

  // One chunk again and again: as large as one likes, and no memory.
  const chunk = new Uint8Array(mebibyte);
  async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < count; index++) yield chunk;
  }

  /** What the server got of a body: the bytes, and whether its end came. */
  interface Received {
    readonly bytes: number;
    readonly complete: boolean;
  }

  /** Counts what comes and responds to what comes whole; each body is told of when it ended, whichever way. */
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
      if (nodeHttp) expect((await soon(received, "the end of the body", 60_000)).complete).toBe(false);
      else expect(server.connections).toBe(0);
    }

    test.each([
      ["fewer bytes", 3 * mebibyte + 1],
      ["more bytes", 3 * mebibyte - 1],
      ["any bytes", 0],
    ])(
      "a stream that has %s than its size is FAILED_PRECONDITION, and never arrives whole",
      async (_how, size) => {
        const received = countBodies();
        const error = await failureOf(() => upload(mebibytes(3), { size }));
        expect(error.code).toBe("FAILED_PRECONDITION");
        expect(error.message).toContain(String(size));
        await expectIncomplete(error, received);
      },
    );

    test("a client can be used after a stream that was not what its size said", async () => {
      void countBodies();
      const client = connect(server.url, options);
      await failureOf(() => client.datasets.upload("reviews", mebibytes(2), { name: "x", size: 5 }));
      await client.datasets.upload("reviews", mebibytes(2), { name: "x", size: 2 * mebibyte });
      await client.deployments.scale("prod", 1);
      if (nodeHttp) expect(server.used).toEqual([1, 2, 2]);
    });
  });
});

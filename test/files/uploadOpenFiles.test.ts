import {
  appendFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Client, StatusCode, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { until } from "../support/turns.js";

const server = useCountingServer();

// More than what the network's buffers hold: what happens once the first bytes came finds most of it unread.
const size = 24 * 1024 * 1024;
const folder = path.dirname(useTemporaryFile(Buffer.of()));
let file: string;
let tests = 0;
beforeEach(() => {
  // Another for each test, so that what one leaves open is not seen by the next.
  file = path.join(folder, `train-${++tests}.jsonl`);
  writeFileSync(file, "");
  truncateSync(file, size);
});

describe("the open files", () => {
  /** How many of this process's open files are the uploaded one. */
  function openNow(): number {
    return readdirSync("/proc/self/fd").filter((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
      } catch {
        return false;
      }
    }).length;
  }

  /** Runs `then` once the first bytes came, and reads no more. */
  function stopReading(then: () => void): void {
    server.listen((request) => {
      request
        .on("error", () => {})
        .once("data", () => {
          request.pause();
          then();
        });
    });
  }

  /** How an upload fails; what `prepare` returns is added to the client's and the call's options. */
  type Ending = readonly [how: string, code: StatusCode, prepare: () => Prepared | undefined];
  type Prepared = { client?: object; call?: UploadOptions };
  const endings: readonly Ending[] = [
    [
      "got an error before it was sent",
      "NOT_FOUND",
      () =>
        void server.listen((request, response) => {
          request.on("error", () => {}).resume();
          response.writeHead(404).end();
        }),
    ],
    [
      "was aborted half-way",
      "CANCELLED",
      () => {
        const controller = new AbortController();
        stopReading(() => controller.abort());
        return { call: { signal: controller.signal } };
      },
    ],
    [
      "lost its connection half-way",
      "UNAVAILABLE",
      () => void stopReading(() => server.open.forEach((socket) => void socket.resetAndDestroy())),
    ],
    ["found nobody listening", "UNAVAILABLE", () => ({ client: { baseUrl: "http://127.0.0.1:2" } })],
    ["had no key", "UNAUTHENTICATED", () => ({ client: { apiKey: () => Promise.reject(new Error("no")) } })],
    ["had a file over the limit", "OUT_OF_RANGE", () => void truncateSync(file, 150 * 1024 * 1024 + 1)],
  ];

  describe.runIf(process.platform === "linux").each(transports)(
    "over $name no file stays open when an upload",
    ({ options }) => {
      const upload = (client: Client, call?: UploadOptions) => client.datasets.upload("reviews", file, call);

      // The end of a call waits for no thread that closes a file.
      const allClosed = () => until(() => openNow() === 0);

      test("succeeded", async () => {
        const client = connect(server.url, options);
        await Promise.all([upload(client), upload(client)]);
        await allClosed();
      });

      test.each(endings)("%s", async (_how, code, prepare) => {
        const { client, call } = prepare() ?? {};
        const error = await failureOf(() => upload(connect(server.url, { ...options, ...client }), call));
        expect(error.code).toBe(code);
        await allClosed();
      });
    },
  );
});

describe("a file that changes", () => {
  // A file system may date two writes alike.
  const rewrite = () => {
    const later = statSync(file).mtimeMs / 1000 + 2;
    writeFileSync(file, Buffer.alloc(size, "b"));
    utimesSync(file, later, later);
  };
  const changes: readonly (readonly [how: string, change: () => void])[] = [
    ["grows by a byte", () => appendFileSync(file, "x")],
    ["loses its second half", () => truncateSync(file, size / 2)],
    ["becomes empty", () => truncateSync(file, 0)],
    ["is rewritten in its old length", rewrite],
  ];

  /** Counts the bodies that come whole, and runs `change` once the first bytes of one came. */
  function serve(change: () => void): { whole: number; ended: number } {
    const seen = { whole: 0, ended: 0 };
    server.listen((request, response) => {
      request.once("data", change);
      request
        .on("end", () => response.end(goodText))
        .on("error", () => {})
        .on("close", () => {
          seen.ended += 1;
          if (request.complete) seen.whole += 1;
        })
        .resume();
    });
    return seen;
  }

  describe.each(transports)("over $name", ({ options }) => {
    test.each(changes)(
      "that %s while it is sent is FAILED_PRECONDITION, and never arrives whole",
      async (_how, change) => {
        const seen = serve(change);
        const error = await failureOf(() => connect(server.url, options).datasets.upload("reviews", file));
        const details = { executed: "unknown", codeSource: "client" };
        expect(error).toMatchObject({ code: "FAILED_PRECONDITION", ...details });
        await until(() => seen.ended === 1);
        expect(seen.whole).toBe(0);
      },
    );

    test.each(changes)(
      "that %s before it is sent is FAILED_PRECONDITION, and never arrives whole",
      async (_how, change) => {
        const seen = serve(() => {});
        // The key is asked for after the file was opened and before anything is sent.
        const apiKey = async () => {
          change();
          return "key";
        };
        const client = connect(server.url, { ...options, apiKey });
        const error = await failureOf(() => client.datasets.upload("reviews", file));
        expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "client" });
        expect(error.executed).not.toBe("yes");
        // Of a file on this machine, not of something that the service holds.
        expect(error.hint).not.toContain("Bring the resource");
        if (error.executed === "no")
          expect(error.hint).toMatch(/^Call again with a file that can be read and does not change/);
        expect(seen.whole).toBe(0);
      },
    );
  });
});

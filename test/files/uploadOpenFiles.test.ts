import { readdirSync, readlinkSync, truncateSync } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client, StatusCode, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";

const server = useCountingServer();
const clock = useTestClock();
const size = 24 * 1024 * 1024;
let folder: string;
let file: string;
let tests = 0;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
beforeEach(async () => {
  // Another for each test, so that what one leaves open is not seen by the next.
  file = path.join(folder, `train-${++tests}.jsonl`);
  await writeFile(file, "");
  await truncate(file, size);
});
afterAll(() => remove());

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

interface Ending {
  readonly how: string;
  readonly code: StatusCode;
  /** Prepares the failure; what it returns is added to the client's and the call's options. */
  readonly prepare: () => { client?: object; call?: UploadOptions };
}

const endings: readonly Ending[] = [
  {
    how: "was answered with an error",
    code: "NOT_FOUND",
    prepare() {
      server.listen((request, response) => {
        request.resume().on("end", () => response.writeHead(404).end());
      });
      return {};
    },
  },
  {
    how: "was answered with an error before it was sent",
    code: "NOT_FOUND",
    prepare() {
      server.listen((request, response) => {
        request.on("error", () => {}).resume();
        response.writeHead(404).end();
      });
      return {};
    },
  },
  {
    how: "was aborted half-way",
    code: "CANCELLED",
    prepare() {
      const controller = new AbortController();
      stopReading(() => controller.abort());
      return { call: { signal: controller.signal } };
    },
  },
  {
    how: "met its deadline half-way",
    code: "DEADLINE_EXCEEDED",
    prepare() {
      stopReading(() => clock.pass(100));
      return { call: { timeoutMs: 100 } };
    },
  },
  {
    how: "lost its connection half-way",
    code: "UNAVAILABLE",
    prepare() {
      stopReading(() => {
        for (const socket of server.open) socket.resetAndDestroy();
      });
      return {};
    },
  },
  {
    how: "found nobody listening",
    code: "UNAVAILABLE",
    prepare: () => ({ client: { baseUrl: "http://127.0.0.1:1" } }),
  },
  {
    how: "had no key",
    code: "UNAUTHENTICATED",
    prepare: () => ({ client: { apiKey: () => Promise.reject(new Error("no key")) } }),
  },
  {
    how: "had another size than was said",
    code: "INVALID_ARGUMENT",
    prepare: () => ({ call: { size: size + 1 } }),
  },
  { how: "had a size below 0", code: "OUT_OF_RANGE", prepare: () => ({ call: { size: -1 } }) },
  {
    how: "had a size that is no number",
    code: "INVALID_ARGUMENT",
    prepare: () => ({ call: { size: "5" as never } }),
  },
  {
    how: "had a file over the limit",
    code: "OUT_OF_RANGE",
    prepare() {
      truncateSync(file, 150 * 1024 * 1024 + 1);
      return {};
    },
  },
];

describe.runIf(process.platform === "linux").each(transports)(
  "over $name no file stays open when an upload",
  ({ options }) => {
    const upload = (client: Client, call?: UploadOptions) => client.datasets.upload("reviews", file, call);

    test("succeeded", async () => {
      const client = connect(server.url, options);
      await Promise.all([upload(client), upload(client)]);
      expect(openNow()).toBe(0);
    });

    test.each(endings)("$how", async ({ code, prepare }) => {
      const { client, call } = prepare();
      const error = await failureOf(() => upload(connect(server.url, { ...options, ...client }), call));
      expect(error.code).toBe(code);
      expect(openNow()).toBe(0);
    });

    test("is under way: then it is open", async () => {
      let open = 0;
      const controller = new AbortController();
      stopReading(() => {
        open = openNow();
        controller.abort();
      });
      await failureOf(() => upload(connect(server.url, options), { signal: controller.signal }));
      expect(open).toBeGreaterThan(0);
    });
  },
);

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptEvent, UploadFile, UploadProgress } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { turns } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();

const size = 3 * 1024 * 1024 + 5;
let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  await writeFile(path.join(folder, "train.jsonl"), Buffer.alloc(size, "x"));
});
afterAll(() => remove());

const broken = new Error("the callback broke");

/** Every way in which a callback can fail; each counts its calls. */
const failing: readonly (readonly [how: string, fail: () => unknown])[] = [
  [
    "throws",
    () => {
      throw broken;
    },
  ],
  ["rejects at once", async () => Promise.reject(broken)],
  ["rejects later", async () => new Promise((_, reject) => setImmediate(reject, broken))],
  [
    "gives a promise of another library that rejects",
    // biome-ignore lint/suspicious/noThenProperty: as such a promise is
    () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(broken) }),
  ],
];

const files: readonly (readonly [what: string, file: () => UploadFile, totalBytes: number])[] = [
  ["a path", () => path.join(folder, "train.jsonl"), size],
  ["a Blob", () => new Blob([Buffer.alloc(size)]), size],
  ["an empty file", () => new Uint8Array(), 0],
];

describe.each(transports)("over $name", ({ options }) => {
  describe.each(failing)("a callback that %s", (_how, fail) => {
    test.each(operationCalls)("as onAttempt of $operation changes no response", async ({ call }) => {
      const events: AttemptEvent[] = [];
      const onAttempt = (event: AttemptEvent) => {
        events.push(event);
        return fail() as undefined;
      };
      const { attempts } = await call(connect(server.url, options), { onAttempt }).withResponse();
      expect(events).toMatchObject(attempts);
      expect(server.requests).toHaveLength(1);
      await turns();
    });

    test("as onAttempt changes neither a repeat nor the error", async () => {
      // A 401 is repeated at once where the key may be another.
      server.reply({ status: 401, json: { message: "no" } });
      const onAttempt = () => fail() as undefined;
      const client = connect(server.url, { ...options, onAttempt, apiKey: () => canaryKey, maxRetries: 1 });
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no", httpStatus: 401 });
      expect(error.cause).toBeUndefined();
      expect(error.attempts).toHaveLength(2);
      await turns();
    });

    test.each(files)("as onProgress of %s does not end the upload", async (_what, file, totalBytes) => {
      const seen: UploadProgress[] = [];
      await connect(server.url, options).datasets.upload("reviews", file(), {
        name: "train.jsonl",
        onProgress: (progress) => {
          seen.push(progress);
          return fail() as undefined;
        },
      });
      expect(server.only.files[0]?.bytes).toHaveLength(totalBytes);
      expect(seen.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
      await turns();
    });
  });

  test("a process whose async callbacks reject goes on", async () => {
    const script = `
      import { createClient } from "./src/index.ts";
      const fail = async () => { throw new Error("the callback broke"); };
      const client = createClient({ baseUrl: process.env.URL, accountId: "a", onAttempt: fail${options.fetch ? ", fetch" : ""} });
      await client.datasets.upload("reviews", "package.json", { onProgress: fail });
      await client.deployments.scale("prod", 1);
      console.log("done");
    `;
    const { exitCode, stdout, stderr } = await runScript(script, { URL: server.url });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
    expect(server.requests).toHaveLength(2);
  });
});

import { describe, expect, test } from "vitest";
import type { AttemptEvent, UploadProgress } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { turns } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();

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

    test("as onProgress does not end the upload", async () => {
      const seen: UploadProgress[] = [];
      await connect(server.url, options).datasets.upload("reviews", new Uint8Array(5), {
        name: "train.jsonl",
        onProgress: (progress) => {
          seen.push(progress);
          return fail() as undefined;
        },
      });
      expect(seen.at(-1)).toEqual({ sentBytes: 5, totalBytes: 5 });
      expect(server.only.files[0]?.bytes).toHaveLength(5);
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
  });
});

// An error of the program's own code (an agent, a mock, a fetch function, a callback) is no outage of the service.
import { Agent } from "node:http";
import { Agent as UndiciAgent } from "undici";
import { describe, expect, test } from "vitest";
import type { AttemptEvent, ClientOptions, StatusError, UploadProgress } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { turns } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();
const rerank = { query: "q", documents: ["d"] };

const failure = (options: ClientOptions): Promise<StatusError> =>
  failureOf(() => connect(server.url, { maxRetries: 2, ...options }).rerank(rerank));

/** An agent that opens no connection, but fails. */
function agentFailing(createConnection: (options: unknown, opened: (error: Error) => void) => void): Agent {
  return Object.assign(new Agent(), { createConnection });
}

/** An agent whose connections fail with an error. */
function agentGiving(error: Error): Agent {
  return agentFailing((_options, opened) => void setImmediate(opened, error));
}

/** A dispatcher whose connections fail with an error. */
function dispatcherFailing(error: Error): UndiciAgent {
  return new UndiciAgent({ connect: (_options, opened) => setImmediate(opened, error, null) });
}

const notFunction = new TypeError("Promise.withResolvers is not a function");
const notDefined = new ReferenceError("cache is not defined");
const invalidAddress = Object.assign(new TypeError("Invalid IP address: undefined"), {
  code: "ERR_INVALID_IP_ADDRESS",
});

describe("an error of the program's own code is INTERNAL, is not retried, and blames no service", () => {
  test.each<[how: string, options: () => ClientOptions, error: Error, executed: string]>([
    ["thrown by an agent", () => ({ agent: agentFailing(fail) }), notFunction, "no"],
    ["with which an agent fails", () => ({ agent: agentGiving(notFunction) }), notFunction, "no"],
    [
      "with a code of Node's checks of arguments",
      () => ({ agent: agentGiving(invalidAddress) }),
      invalidAddress,
      "no",
    ],
    ["that a dispatcher reports", () => ({ dispatcher: dispatcherFailing(notFunction) }), notFunction, "no"],
    [
      "that a fetch function throws",
      () => ({
        fetch: async (url, init) => {
          await globalThis.fetch(url, init as never);
          throw notDefined;
        },
      }),
      notDefined,
      "unknown",
    ],
  ])("%s", async (how, options, { message }, executed) => {
    const error = await failure(options());
    expect(error).toMatchObject({ code: "INTERNAL", codeSource: "client", executed });
    expect(error.text).toBe(`This program or one of its libraries failed: ${message}.`);
    expect(error.hint).not.toMatch(/service|Try again|baseUrl/);
    expect(error.cause).toMatchObject({ message });
    expect(server.requests).toHaveLength(how.includes("fetch") ? 1 : 0);
  });
});

describe("a failure of the network stays one", () => {
  test.each<[how: string, options: () => ClientOptions]>([
    ["as MSW imitates it", () => ({ agent: agentGiving(new TypeError("Network error")) })],
    [
      "as a fetch function reports it",
      () => ({ fetch: () => Promise.reject(new TypeError("Failed to fetch")) }),
    ],
    [
      "in the cause of a TypeError",
      () => ({
        dispatcher: dispatcherFailing(
          new TypeError("fetch failed", { cause: new Error("other side closed") }),
        ),
      }),
    ],
  ])("%s", async (_how, options) => {
    const error = await failure({ ...options(), maxRetries: 0 });
    expect(error).toMatchObject({ code: "UNAVAILABLE", codeSource: "transport" });
    expect(error.attempts).toHaveLength(1);
  });
});

describe.each<[how: string, fail: () => unknown]>([
  ["throws", fail],
  ["rejects at once", async () => fail()],
  ["rejects later", async () => new Promise((_, reject) => setImmediate(reject, notFunction))],
  [
    "gives a promise of another library that rejects",
    // biome-ignore lint/suspicious/noThenProperty: as such a promise is
    () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(notFunction) }),
  ],
])("a callback that %s", (_how, fail) => {
  describe.each(transports)("over $name", ({ options }) => {
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

    test("as onAttempt changes neither a retry nor the error", async () => {
      // A 401 is retried at once where the key may be another.
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

function fail(): never {
  throw notFunction;
}

// An error of the program's own code (an agent, a mock, a fetch function) is no outage of the service.
import { Agent } from "node:http";
import { Agent as UndiciAgent } from "undici";
import { describe, expect, test } from "vitest";
import type { ClientOptions, StatusError } from "../../src/index.js";
import { connect, failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const rerank = { query: "q", documents: ["d"] };

const failure = (options: ClientOptions): Promise<StatusError> =>
  failureOf(() => connect(server.url, { maxRetries: 2, ...options }).rerank(rerank));

/** An agent that opens no connection, but fails. */
function agentFailing(fail: (found: (error: Error) => void) => void): Agent {
  return Object.assign(new Agent(), {
    createConnection(_options: unknown, opened: (error: Error) => void) {
      fail(opened);
    },
  });
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
    [
      "thrown by an agent",
      () => ({
        agent: agentFailing(() => {
          throw notFunction;
        }),
      }),
      notFunction,
      "no",
    ],
    [
      "with which an agent fails",
      () => ({ agent: agentFailing((opened) => setImmediate(opened, notFunction)) }),
      notFunction,
      "no",
    ],
    [
      "with a code of Node's checks of arguments",
      () => ({ agent: agentFailing((opened) => setImmediate(opened, invalidAddress)) }),
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
    [
      "as MSW imitates it",
      () => ({ agent: agentFailing((opened) => setImmediate(opened, new TypeError("Network error"))) }),
    ],
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

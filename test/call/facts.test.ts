import { describe, expect, test } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { type ClientInside, insideOf } from "../../src/wrappers/types.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodJson, goodText } from "../support/responses.js";
import { turns } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();

describe("the facts of a failure", () => {
  useNoBackoff();
  const rerank = { query: "q", documents: ["d"] };

  describe("what a fetch function rejects with", () => {
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const within = new TypeError("fetch failed");
    within.cause = within;

    test.each([
      ["a message that is no string", Object.assign(new TypeError(), { message: 42 })],
      ["a Proxy that was revoked", revoked],
      ["nothing", undefined],
      ["a symbol", Symbol("lost")],
      ["a cause within itself", within],
    ])("%s changes no fact", async (_what, thrown) => {
      const heard: unknown[] = [];
      const options: ClientOptions = {
        onAttempt: (event) => void heard.push(event),
        fetch: async (url, init) => {
          await globalThis.fetch(url, init as never);
          throw thrown;
        },
      };
      const resume = () => connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
      const error = await failureOf(resume);
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", executedBecause: "no-answer" });
      expect([error.attempts.length, heard.length, server.requests.length]).toEqual([1, 1, 1]);
    });
  });

  describe.each(transports)("over $name", ({ options }) => {
    test("a reason of a signal that cannot be read leaves the call cancelled", async () => {
      const signal = {
        aborted: true,
        get reason(): never {
          throw new Error("No reason.");
        },
        addEventListener() {},
        removeEventListener() {},
      };
      const error = await failureOf(() => connect(server.url, options).rerank(rerank, { signal }));
      expect(error).toMatchObject({ code: "CANCELLED", executed: "no" });
      expect(error.cause).toBeUndefined();
    });

    test("what fails while a response is read is INTERNAL, and the operation ran", async () => {
      const { callEncoded: send } = insideOf(connect(server.url, options)) as ClientInside;
      const request = {
        method: "POST",
        target: "/v1/x",
        accept: undefined,
        content: async () => ({ body: "{}", contentType: "text/plain" }),
      };
      const notNow = () => {
        throw new RangeError("Not now.");
      };
      for (const [httpStatus, executed] of [
        [200, "yes"],
        [503, "unknown"],
      ] as const) {
        server.reply({ status: httpStatus, json: {} });
        const error = await failureOf(() => send(request, {}, notNow));
        expect(error).toMatchObject({
          code: "INTERNAL",
          executed,
          httpStatus,
          cause: { message: "Not now." },
        });
        expect(error.attempts).toMatchObject([{ code: "INTERNAL", httpStatus }]);
        if (httpStatus === 200) expect(error.executedBecause).toBe("success-began");
      }
      expect(server.requests).toHaveLength(2);
    });
  });
});

describe("the response beside a result", () => {
  describe.each(transports)("over $name", ({ options }) => {
    test.each(operationCalls)(
      "$operation tells status, headers, request id and attempts",
      async ({ operation, call }) => {
        const json = { ...goodJson, made: "up" };
        server.reply({ status: 201, json, headers: { "X-Request-Id": "req-1", "X-Other": "a, b" } });
        const response = await call(connect(server.url, options)).withResponse();
        expect(response.data).toEqual(operation === "scaleDeployment" ? undefined : json);
        expect(response).toMatchObject({ httpStatus: 201, requestId: "req-1" });
        const headers = { "x-request-id": "req-1", "x-other": "a, b", "content-type": "application/json" };
        expect(response.headers).toMatchObject(headers);
        expect(response.attempts).toEqual([
          { number: 1, durationMs: expect.any(Number), httpStatus: 201, requestId: "req-1" },
        ]);
        expect(response.attempts[0]?.durationMs).toBeGreaterThan(0);
      },
    );

    test.each([
      ["request-id alone", { "request-id": "b" }, "b"],
      ["both, of which x-request-id wins", { "request-id": "b", "x-request-id": "a" }, "a"],
      ["an empty x-request-id and request-id", { "request-id": "b", "x-request-id": "" }, "b"],
      ["neither", {}, undefined],
    ])("the request id is read from %s", async (_what, headers, requestId) => {
      server.reply({ json: {}, headers });
      const client = connect(server.url, options);
      expect((await client.deployments.scale("prod", 1).withResponse()).requestId).toBe(requestId);
      server.reply({ status: 404, json: {}, headers });
      expect((await failureOf(() => client.deployments.scale("prod", 1))).requestId).toBe(requestId);
    });

    test("a call is sent once, however often it is awaited", async () => {
      const call = connect(server.url, options).rerank({ query: "q", documents: ["d"] });
      const [first, second, { data }] = await Promise.all([call, call, call.withResponse()]);
      expect(first).toBe(second);
      expect(data).toBe(first);
      expect(server.requests).toHaveLength(1);
    });

    test("a failure rejects the call and its response alike, and is handled where either is awaited", async () => {
      server.reply({ status: 404, json: { code: "NOT_FOUND" } });
      const client = connect(server.url, options);
      const call = client.deployments.scale("prod", 1);
      expect(await failureOf(() => call)).toBe(await failureOf(() => call.withResponse()));
      await failureOf(() => client.deployments.scale("prod", 1).withResponse());
      await failureOf(() => client.deployments.scale("prod", -1).withResponse());
      // Node reports once the microtasks are done.
      await turns(2);
    });

    test("a header that comes twice has both values", async () => {
      server.reply((_request, response) => {
        const headers = ["x-part", "a", "x-part", "b", "content-type", "application/json"];
        response.writeHead(200, headers).end(goodText);
        return undefined;
      });
      const { headers } = await connect(server.url, options).deployments.scale("prod", 1).withResponse();
      expect(headers["x-part"]).toBe("a, b");
    });
  });
});

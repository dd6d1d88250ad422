import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { goodJson } from "../support/answers.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

describe.each(transports)("over $name", ({ options }) => {
  test.each(operationCalls)(
    "$operation tells status, headers, request id and attempts",
    async ({ operation, call }) => {
      const json = { ...goodJson, made: "up" };
      server.reply({ status: 201, json, headers: { "X-Request-Id": "req-1", "X-Other": "a, b" } });
      const response = await call(connect(server.url, options)).withResponse();
      expect(response.data).toEqual(operation === "scaleDeployment" ? undefined : json);
      expect(response.httpStatus).toBe(201);
      expect(response.requestId).toBe("req-1");
      expect(response.headers).toMatchObject({
        "x-request-id": "req-1",
        "x-other": "a, b",
        "content-type": "application/json",
      });
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

  test("a failure rejects both the call and its response with the same error", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND" } });
    const call = connect(server.url, options).deployments.scale("prod", 1);
    const error = await failureOf(() => call);
    expect(await failureOf(() => call.withResponse())).toBe(error);
  });

  test("a failure that is awaited through withResponse alone is handled", async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): number => unhandled.push(reason);
    process.on("unhandledRejection", listener);
    try {
      server.reply({ status: 404, json: { code: "NOT_FOUND" } });
      const client = connect(server.url, options);
      await failureOf(() => client.deployments.scale("prod", 1).withResponse());
      await failureOf(() => client.deployments.scale("prod", -1).withResponse());
      // Node reports once the microtasks are done.
      await setImmediate();
      await setImmediate();
    } finally {
      process.off("unhandledRejection", listener);
    }
    expect(unhandled).toEqual([]);
  });
});

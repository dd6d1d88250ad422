import { getEventListeners, once } from "node:events";
import { describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const reason = new Error("the user went away");

describe.each(transports)("over $name", ({ options }) => {
  describe.each(operationCalls)("$operation", ({ operation, call }) => {
    test("aborted before it began sends nothing", async () => {
      const signal = AbortSignal.abort(reason);
      const error = await failureOf(() => call(connect(server.url, options), { signal }));
      expect(error).toMatchObject({
        code: "CANCELLED",
        executed: "no",
        inferred: true,
        codeSource: "client",
        operation,
        attempts: [],
      });
      expect(error.cause).toBe(reason);
      expect(server.requests).toEqual([]);
      expect(server.connections).toBe(0);
    });

    test("aborted while it waits for headers may have run", async () => {
      const controller = new AbortController();
      // A request of an earlier test may come late: only this one counts.
      const headers = { "x-aborted": "yes" };
      server.reply((request) => {
        if (request.headers["x-aborted"] === "yes") controller.abort(reason);
        return undefined;
      });
      const { signal } = controller;
      const error = await failureOf(() => call(connect(server.url, options), { signal, headers }));
      expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown", operation });
      expect(error.httpStatus).toBeUndefined();
      expect(error.cause).toBe(reason);
      expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    });

    test("leaves no listener on the signal after success and after failure", async () => {
      const { signal } = new AbortController();
      const client = connect(server.url, options);
      await call(client, { signal });
      expect(getEventListeners(signal, "abort")).toEqual([]);
      server.reply({ status: 404, json: {} });
      await failureOf(() => call(client, { signal }));
      expect(getEventListeners(signal, "abort")).toEqual([]);
      server.reply(() => undefined);
      await failureOf(() => call(client, { signal, timeoutMs: 30 }));
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });
  });

  test("a call aborted in the body of its response ran", async () => {
    const controller = new AbortController();
    server.reply((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"object":');
      return undefined;
    });
    const client = connect(server.url, options);
    const running = failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    await server.received();
    // The headers are on their way: they arrive before this later response does.
    await secondResponse();
    controller.abort(reason);
    const error = await running;
    expect(error).toMatchObject({ code: "CANCELLED", executed: "yes", httpStatus: 200 });
    expect(error.cause).toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("a call aborted while its apiKey function is pending sends nothing", async () => {
    const controller = new AbortController();
    const apiKey = (): Promise<string> => {
      controller.abort(reason);
      return new Promise(() => {});
    };
    const client = connect(server.url, { ...options, apiKey });
    const error = await failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "CANCELLED", executed: "no", attempts: [] });
    expect(error.cause).toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test("a key that arrives after the call was aborted sends nothing", async () => {
    const controller = new AbortController();
    let give: ((key: string) => void) | undefined;
    const client = connect(server.url, {
      ...options,
      apiKey: () =>
        new Promise<string>((resolve) => {
          give = resolve;
        }),
    });
    const running = failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    controller.abort();
    expect((await running).code).toBe("CANCELLED");
    give?.("late-key");
    await secondResponse();
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.url).toBe("/after");
  });

  test("the connection of an aborted call is closed", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const closed = new Promise<unknown>((resolve) => {
      server.reply((_request, response) => {
        resolve(once(response, "close"));
        controller.abort();
        return undefined;
      });
    });
    await failureOf(() => connect(server.url, options).deployments.scale("prod", 1, { signal }));
    await closed;
  });

  test("a signal may be shared by many calls", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = connect(server.url, options);
    let received = 0;
    server.reply(() => {
      if (++received === 10) controller.abort(reason);
      return undefined;
    });
    const calls = Array.from({ length: 10 }, () =>
      failureOf(() => client.deployments.scale("prod", 1, { signal })),
    );
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ code: "CANCELLED", cause: reason });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

/** A request of another client, sent later, with its response: what was written before it has arrived. */
async function secondResponse(): Promise<void> {
  const response = await fetch(`${server.url}/after`, { headers: { connection: "close" } });
  await response.body?.cancel();
}

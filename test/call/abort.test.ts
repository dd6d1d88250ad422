import { getEventListeners, once } from "node:events";
import { describe, expect, test } from "vitest";
import type { CallOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { silence } from "../support/responses.js";
import { soon } from "../support/turns.js";

const server = useRecordingServer();
const reason = new Error("the user went away");

// What comes of the call at each point where it may be: test/call/endedAnywhere.test.ts.
describe.each(transports)("over $name", ({ options }) => {
  const scale = (given: CallOptions) => connect(server.url, options).deployments.scale("prod", 1, given);

  test("aborted before it began opens no connection", async () => {
    const error = await failureOf(() => scale({ signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "CANCELLED", executed: "no", inferred: true, attempts: [] });
    expect([error.cause, server.connections]).toEqual([reason, 0]);
  });

  test("a call that is aborted before its headers has the reason as its cause, and closes its connection", async () => {
    const controller = new AbortController();
    const closed = new Promise<unknown>((resolve) => {
      server.reply((_request, response) => {
        resolve(once(response, "close"));
        controller.abort(reason);
        return undefined;
      });
    });
    const error = await failureOf(() => scale({ signal: controller.signal }));
    expect([error.code, error.httpStatus, error.cause]).toEqual(["CANCELLED", undefined, reason]);
    await soon(closed, "the connection is closed");
  });

  test("a call that is aborted in its response's body has its status", async () => {
    const controller = new AbortController();
    server.reply((_request, response) => {
      response.writeHead(200).write('{"object":');
      void server.responseRead().then(() => controller.abort(reason));
      return undefined;
    });
    const error = await failureOf(() => scale({ signal: controller.signal }));
    expect(error).toMatchObject({ code: "CANCELLED", executed: "yes", httpStatus: 200, cause: reason });
  });

  test("a key that arrives after the call was aborted sends nothing", async () => {
    const controller = new AbortController();
    let give = (_key: string): void => {};
    const apiKey = () => new Promise<string>((resolve) => (give = resolve));
    const client = connect(server.url, { ...options, apiKey });
    const running = failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    controller.abort(reason);
    expect(await running).toMatchObject({ code: "CANCELLED", executed: "no", attempts: [], cause: reason });
    give("late-key");
    // What was sent before this response has arrived before it.
    await fetch(`${server.url}/after`, { headers: { connection: "close" } });
    expect(server.only.url).toBe("/after");
  });

  test("no listener stays on the signal after a success, a failure, an abort and a deadline", async () => {
    for (const reply of [{ json: {} }, { status: 404, json: {} }, silence]) {
      const { signal } = new AbortController();
      server.reply(reply);
      await scale({ signal, timeoutMs: reply === silence ? 30 : 60_000 }).catch(() => {});
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
    const controller = new AbortController();
    server.reply(() => void controller.abort());
    await failureOf(() => scale({ signal: controller.signal }));
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

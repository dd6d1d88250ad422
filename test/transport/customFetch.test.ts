import { describe, expect, test } from "vitest";
import type { FetchLike } from "../../src/index.js";
import { goodJson } from "../support/answers.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

interface Seen {
  readonly url: string;
  readonly init: RequestInit & { headers: Record<string, string> };
}

/** A fetch function of the caller's that keeps what it was called with. */
function keeping(answer: () => Promise<Response>): { fetch: FetchLike; seen: Seen[] } {
  const seen: Seen[] = [];
  const fetch: FetchLike = (url, init) => {
    seen.push({ url, init });
    return answer();
  };
  return { fetch, seen };
}

describe("a fetch function of the caller's", () => {
  test.each(operationCalls)(
    "is what $operation is sent with, never to follow a redirect",
    async ({ call, method, path }) => {
      const { fetch, seen } = keeping(async () =>
        Response.json(goodJson, { headers: { "x-request-id": "req-1" } }),
      );
      const { requestId, httpStatus } = await call(
        connect("https://api.example.com", { fetch }),
      ).withResponse();
      expect([requestId, httpStatus]).toEqual(["req-1", 200]);
      expect(seen).toHaveLength(1);
      expect(seen[0]?.url).toBe(`https://api.example.com${path}`);
      expect(seen[0]?.init).toMatchObject({ method, redirect: "manual", signal: expect.any(AbortSignal) });
      expect(seen[0]?.init.headers).toMatchObject({ authorization: `Bearer ${canaryKey}` });
    },
  );

  test("may wrap the platform's", async () => {
    const client = connect(server.url, { fetch: (url, init) => globalThis.fetch(`${url}?traced`, init) });
    await client.deployments.scale("prod", 1);
    expect(server.only.url).toBe("/v1/accounts/acme/deployments/prod:scale?traced");
  });

  test("that does not heed its signal holds no call beyond its deadline", async () => {
    const { fetch, seen } = keeping(() => new Promise(() => {}));
    const client = connect("https://api.example.com", { fetch });
    const running = failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 30 }));
    await until(() => seen.length === 1);
    clock.pass(30);
    expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
  });

  test("that does not heed its signal holds no call that is aborted", async () => {
    const controller = new AbortController();
    const { fetch } = keeping(() => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => {});
    });
    const client = connect("https://api.example.com", { fetch });
    const error = await failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  });

  test("has its signal aborted when the call ends early, and not otherwise", async () => {
    const pending = keeping(() => new Promise(() => {}));
    const client = connect("https://api.example.com", { fetch: pending.fetch });
    const running = failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 30 }));
    await until(() => pending.seen.length === 1);
    expect(pending.seen[0]?.init.signal?.aborted).toBe(false);
    clock.pass(30);
    await running;
    expect(pending.seen[0]?.init.signal?.aborted).toBe(true);
    const quick = keeping(async () => Response.json(goodJson));
    await connect("https://api.example.com", { fetch: quick.fetch }).deployments.scale("prod", 1);
    expect(quick.seen[0]?.init.signal?.aborted).toBe(false);
  });

  test("that fails in its own way is UNAVAILABLE: whether the call ran is not known", async () => {
    const { fetch } = keeping(() => Promise.reject(new TypeError("no network here")));
    const error = await failureOf(() =>
      connect("https://api.example.com", { fetch }).deployments.scale("prod", 1),
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" });
    expect(error.cause).toMatchObject({ name: "TypeError", message: "no network here" });
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["answers nothing", async () => undefined],
    ["answers something else", async () => ({ ok: true })],
  ])("that %s makes the call reject with a StatusError", async (_what, answer) => {
    const fetch = answer as unknown as FetchLike;
    const error = await failureOf(() =>
      connect("https://api.example.com", { fetch }).deployments.scale("prod", 1),
    );
    expect(error.executed).toBe("unknown");
  });

  test("that hides a redirect as browsers do is not followed", async () => {
    const hidden = { status: 0, headers: new Headers(), body: null };
    const error = await failureOf(() =>
      connect("https://api.example.com", { fetch: async () => hidden }).deployments.scale("prod", 1),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown", inferred: true });
  });

  test("that answers without a body stream is understood", async () => {
    const fetch = async (): Promise<Response> => new Response(null, { status: 404 });
    const error = await failureOf(() =>
      connect("https://api.example.com", { fetch }).deployments.scale("prod", 1),
    );
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", httpStatus: 404 });
  });
});

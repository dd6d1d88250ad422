import { once } from "node:events";
import http from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Client, ClientOptions, FetchLike, FetchResponse } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodJson } from "../support/responses.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();

describe("a fetch function of the caller's", () => {
  const clock = useTestClock();

  interface Seen {
    readonly url: string;
    readonly init: RequestInit & { headers: Record<string, string> };
  }

  /** A client whose fetch function keeps what it was called with. */
  function keeping(respond: () => Promise<FetchResponse>): { client: Client; seen: Seen[] } {
    const seen: Seen[] = [];
    const fetch: FetchLike = (url, init) => {
      seen.push({ url, init });
      return respond();
    };
    return { client: connect("https://api.example.com", { fetch }), seen };
  }

  test.each(operationCalls)(
    "is what $operation is sent with, never to follow a redirect, nor to a cache",
    async ({ call, method, path, safe }) => {
      const headers = { "x-request-id": "req-1" };
      const { client, seen } = keeping(async () => Response.json(goodJson, { headers }));
      const { requestId, httpStatus } = await call(client).withResponse();
      expect([requestId, httpStatus]).toEqual(["req-1", 200]);
      expect(seen.map(({ url }) => url)).toEqual([`https://api.example.com${path}`]);
      const init = { method, redirect: "manual", cache: "no-store", signal: expect.any(AbortSignal) };
      // What may not be sent twice asks for a connection of its own.
      expect(seen[0]?.init).toMatchObject({ ...init, keepalive: safe ? undefined : false });
      expect(seen[0]?.init.headers).toMatchObject({ authorization: `Bearer ${canaryKey}` });
      expect(seen[0]?.init.signal?.aborted).toBe(false);
    },
  );

  test("has its signal aborted at the deadline, and holds no call beyond it", async () => {
    const { client, seen } = keeping(() => new Promise(() => {}));
    const running = failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 30 }));
    await until(() => seen.length === 1);
    expect(seen[0]?.init.signal?.aborted).toBe(false);
    clock.pass(30);
    expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(seen[0]?.init.signal?.aborted).toBe(true);
  });

  test("that hides a redirect as browsers do is not followed", async () => {
    const { client } = keeping(async () => ({ status: 0, headers: new Headers(), body: null }));
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown", inferred: true });
  });

  test("that responds without a body stream is understood", async () => {
    const { client } = keeping(async () => new Response(null, { status: 404 }));
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", httpStatus: 404 });
  });

  test("that gives up after 300 s, as Node's own does, meets a deadline, whose advice names the dispatcher", async () => {
    const cause = Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    const { client } = keeping(() => Promise.reject(new TypeError("fetch failed", { cause })));
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(error.hint).toContain("dispatcher");
  });
});

test.each([
  ["a forbidden port", "http://127.0.0.1:6000", {}],
  ["an expect header", undefined, { expect: "100-continue" }],
])("%s is refused before anything is sent, once", async (_what, baseUrl, headers) => {
  const client = connect(baseUrl ?? server.url, { fetch: globalThis.fetch, maxRetries: 2 });
  const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }, { headers }));
  expect(error).toMatchObject({ code: "INTERNAL", executed: "no" });
  expect(error.attempts.length).toBeLessThan(2);
  expect(server.requests).toEqual([]);
});

describe("the response of a fetch function", () => {
  interface Init {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | Uint8Array | undefined;
  }

  type Made = (response: http.IncomingMessage, headers: Headers) => FetchResponse;

  /** A fetch function that really sends, whose responses are those of other classes. */
  function sending(made: Made): FetchLike {
    return async (url, init: never) => {
      const { method, headers, body } = init as Init;
      const request = http.request(url, { method, headers }).end(body);
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      return made(response, new Headers(response.headers as Record<string, string>));
    };
  }

  const bytesOf = (response: http.IncomingMessage) => async (): Promise<ArrayBuffer> =>
    new Uint8Array(Buffer.concat(await response.toArray())).buffer;
  const textOf = (response: http.IncomingMessage) => async () =>
    Buffer.from(await bytesOf(response)()).toString();

  const kinds: readonly (readonly [kind: string, made: Made])[] = [
    ["a Node stream, as those of node-fetch", (response) => ({ ...statusOf(response), body: response })],
    [
      "no stream, as those of React Native",
      (response) => {
        const bytes = { arrayBuffer: bytesOf(response), text: textOf(response) };
        return { ...statusOf(response), body: undefined, ...bytes };
      },
    ],
    ["bytes alone", (response) => ({ ...statusOf(response), arrayBuffer: bytesOf(response) })],
    [
      "text alone",
      (response, headers) => ({ ...statusOf(response), headers: new Map(headers), text: textOf(response) }),
    ],
  ];

  function statusOf({ statusCode = 0, headers }: http.IncomingMessage): { status: number; headers: Headers } {
    return { status: statusCode, headers: new Headers(headers as Record<string, string>) };
  }

  describe.each(kinds)("a fetch function whose response has %s", (_kind, made) => {
    const client = (options: ClientOptions = {}) => connect(server.url, { fetch: sending(made), ...options });
    const [, rerank, scale] = operationCalls;

    test("brings what the service said, once", async () => {
      expect(await rerank?.call(client({ maxRetries: 2 }))).toEqual(goodJson);
      expect(server.requests).toHaveLength(1);
    });

    test("brings an error of the service's", async () => {
      server.reply({ status: 403, json: { code: "PERMISSION_DENIED", message: "Not yours." } });
      const error = await failureOf(async () => scale?.call(client()));
      expect(error).toMatchObject({ code: "PERMISSION_DENIED", httpStatus: 403, executed: "no" });
      expect(error.message).toContain("Not yours.");
    });

    test.each([true, false])("is capped, where its length is announced: %s", async (announced) => {
      const text = JSON.stringify({ name: "x".repeat(2000) });
      server.reply((_request, response) => {
        response.setHeader("content-type", "application/json");
        if (announced) response.setHeader("content-length", text.length);
        response.end(text);
        return undefined;
      });
      const request = { method: "GET", path: "/v1/x" } as const;
      const error = await failureOf(() => client().request(request, { maxResponseBytes: 100 }));
      expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes" });
      expect(await client().request(request, { maxResponseBytes: 10_000 })).toEqual(JSON.parse(text));
    });
  });

  test("a fetch function that would send the name of a stream in its place sends nothing of a file", async () => {
    // As node-fetch does with what it does not know.
    const plain = sending(kinds[0]?.[1] as Made);
    const fetch: FetchLike = (url, init: never) =>
      plain(url, { ...(init as Init), body: `${(init as Init).body}` } as never);
    const error = await failureOf(() =>
      connect(server.url, { fetch }).datasets.upload("reviews", new URL(import.meta.url)),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
    expect(error.message).toContain(
      "The fetch function cannot send a file as a stream. Pass its bytes or a Blob",
    );
    expect(server.requests).toEqual([]);
  });

  test("bytes come as they are where a response has no stream", async () => {
    const bytes = [0, 255, 128, 10];
    const fetch = sending(kinds[1]?.[1] as Made);
    server.reply((_request, response) => {
      response.setHeader("content-type", "application/octet-stream");
      response.end(new Uint8Array(bytes));
      return undefined;
    });
    const found = await connect(server.url, { fetch }).request({ method: "GET", path: "/v1/x" });
    expect(Array.from(found as Uint8Array)).toEqual(bytes);
  });

  test.each([200, 503])(
    "an encoding that the fetch function does not undo is named, with status %i",
    async (status) => {
      const bytes = gzipSync('{"data":[]}');
      server.reply({ status, text: bytes, headers: { "content-encoding": "x-own, zstd" } });
      const client = connect(server.url, { fetch: globalThis.fetch, maxRetries: 0 });
      const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
      expect(error.message).toContain("The response was not decoded from x-own, zstd.");
      expect(error).toMatchObject({ httpStatus: status, executed: status === 200 ? "yes" : "unknown" });
    },
  );

  const headers = new Headers();
  test.each<[what: string, response: unknown, executed?: string]>([
    ["nothing", undefined],
    ["null", null],
    ["text", "{}"],
    ["an object of another kind", { ok: true }],
    ["a response without headers", { status: 200, body: null }],
    ["headers without forEach", { status: 200, headers: { "x-a": "b" }, body: null }],
    ["a status that is text", { status: "200", headers, body: null }],
    ["a body that cannot be read", { status: 200, headers, body: {} }, "yes"],
    ["a body that is text", { status: 200, headers, body: "{}" }, "yes"],
  ])(
    "a fetch function that gives %s is at fault: the call is not retried",
    async (_what, response, executed = "unknown") => {
      const fetch = sending((received) => {
        received.resume();
        return response as FetchResponse;
      });
      for (const { call } of operationCalls.slice(0, 3)) {
        server.reset();
        const error = await failureOf(() => call(connect(server.url, { fetch, maxRetries: 2 })));
        expect(error).toMatchObject({ code: "INTERNAL", executed, notRetried: "not-transient" });
        expect(error.message).toContain(
          "The fetch function gave no Response with status, headers and a readable body.",
        );
        expect(server.requests).toHaveLength(1);
      }
    },
  );
});

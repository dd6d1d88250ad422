import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { RequestOptions, ServiceRequest, StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { inTurn, reset, unavailable } from "../support/responses.js";

const server = useRecordingServer();
const get = (path: string): ServiceRequest => ({ method: "GET", path });
const bytes = new Uint8Array([0, 255, 128, 13, 10]);
const circle: Record<string, unknown> = {};
circle.self = circle;
const transferred = new Uint8Array([1, 2]);
structuredClone(transferred, { transfer: [transferred.buffer] });
const ofBytes = { method: "PUT", contentType: "application/octet-stream" };

const encoded: readonly (readonly [what: string, path: string, sent: string])[] = [
  ["a plain path", "/v1/accounts/acme/datasets/reviews", "/v1/accounts/acme/datasets/reviews"],
  ["a verb", "/v1/accounts/acme/jobs/a:cancel", "/v1/accounts/acme/jobs/a:cancel"],
  ["a space and letters outside ASCII", "/v1/my job/café", "/v1/my%20job/caf%C3%A9"],
  [
    "signs that mean something in a URL",
    "/a+b@c=d&e;f/[x]{y}|'\"",
    "/a%2Bb%40c%3Dd%26e%3Bf/%5Bx%5D%7By%7D%7C'%22",
  ],
  ["dots within a segment", "/v1.2/.../x..y", "/v1.2/.../x..y"],
  ["what looks like a host", "/evil.test:80/x", "/evil.test:80/x"],
];

const refusedPaths: readonly (readonly [what: string, path: unknown])[] = [
  ["no path", undefined],
  ["an empty path", ""],
  ["a path without a slash before it", "v1/models"],
  ["an address", "https://evil.test/x"],
  ["another host", "//evil.test/x"],
  ["a slash at the end", "/v1/models/"],
  ["two dots", "/v1/../models"],
  ["a dot", "/v1/./models"],
  ["a query", "/v1/models?all=1"],
  ["a fragment", "/v1/models#x"],
  ["an encoded slash", "/v1/a%2Fb"],
  ["encoded dots", "/v1/%2e%2e/models"],
  ["a backslash", "/v1\\..\\models"],
  ["a line break", "/v1/a\r\nhost: evil.test"],
  ["a lone surrogate", "/v1/\ud83d"],
  ["a segment of 257 characters", `/v1/${"x".repeat(257)}`],
];

const refused: readonly (readonly [what: string, request: object, options: object, named: string])[] = [
  ["no method", { method: undefined }, {}, "method"],
  ["CONNECT", { method: "CONNECT" }, {}, "method"],
  ["an unknown field", { params: {} }, {}, "params"],
  ["a body with GET", { body: {} }, {}, "body"],
  ["a body with HEAD", { method: "HEAD", body: "x" }, {}, "body"],
  ["a query that is no object", { query: "a=1" }, {}, "query"],
  ["null in the query", { query: { a: null } }, {}, "query.a"],
  ["NaN in the query", { query: { a: Number.NaN } }, {}, "query.a"],
  ["a lone surrogate in the query", { query: { a: "\ud83d" } }, {}, "query"],
  ["a content type without a body", { method: "POST", contentType: "text/plain" }, {}, "contentType"],
  ["a Uint8Array without contentType", { method: "PUT", body: bytes }, {}, "contentType"],
  ["a Blob without contentType", { method: "PUT", body: new Blob(["x"]) }, {}, "contentType"],
  ["a FormData without contentType", { method: "PUT", body: new FormData() }, {}, "contentType"],
  [
    "a FormData of another type",
    { method: "PUT", body: new FormData(), contentType: "text/plain" },
    {},
    "contentType",
  ],
  ["text that is not JSON", { method: "PUT", body: "x", contentType: "text/plain" }, {}, "text/plain"],
  [
    "a content type that is no header text",
    { method: "PUT", body: {}, contentType: "a\nb" },
    {},
    "contentType",
  ],
  ["an accept that is no header text", { accept: "a\r\nb: c" }, {}, "accept"],
  ["bytes whose buffer was transferred", { ...ofBytes, body: transferred }, {}, "argument"],
  ["a stream", { method: "PUT", body: new Blob(["x"]).stream() }, {}, "body"],
  ["a function", { method: "PUT", body: () => {} }, {}, "body"],
  ["a bigint within", { method: "PUT", body: { a: 1n } }, {}, "body"],
  ["NaN within", { method: "PUT", body: { a: [Number.NaN] } }, {}, "body"],
  ["a circle", { method: "PUT", body: circle }, {}, "body"],
  ["maxResponseBytes 0", {}, { maxResponseBytes: 0 }, "maxResponseBytes"],
  ["an account", {}, { accountId: "acme" }, "accountId"],
  ["the key as a header of its own", {}, { headers: { Authorization: "Bearer x" } }, "authorization"],
];

describe.each(transports)("over $name", ({ options }) => {
  test.each(encoded)("%s is sent encoded, and its colons as they are", async (_what, path, sent) => {
    // It needs no account.
    await connect(server.url, { ...options, accountId: undefined }).request(get(path));
    expect(server.only).toMatchObject({ method: "GET", url: sent });
  });

  test("the path is appended to that of the base URL, and the query encoded", async () => {
    const query = { filter: "a&b=c'd #é", page: 2, all: true, tag: ["x", "y"], none: undefined, "q?": "" };
    await connect(`${server.url}/team/api/`, options).request({ ...get("/v1/models"), query });
    const search = "?filter=a%26b%3Dc%27d%20%23%C3%A9&page=2&all=true&tag=x&tag=y&q%3F=";
    expect(server.only.url).toBe(`/team/api/v1/models${search}`);
  });

  test.each(["GET", "HEAD", "DELETE", "OPTIONS", "POST"] as const)(
    "%s without a body sends none",
    async (method) => {
      await connect(server.url, options).request({ method, path: "/v1/models" });
      const { headers, body } = server.only;
      expect(headers["content-type"]).toBeUndefined();
      expect(headers["transfer-encoding"]).toBeUndefined();
      if (method === "POST") expect(headers["content-length"]).toBe("0");
      expect(body.byteLength).toBe(0);
      expect(headers).toMatchObject({ authorization: `Bearer ${canaryKey}`, accept: "application/json" });
    },
  );

  test.each([
    ["an object", { a: [1, "é", null], b: undefined }, '{"a":[1,"é",null]}', "application/merge-patch+json"],
    ["a list", [], "[]"],
    ["null", null, "null"],
    ["a text", 'say "hi"', '"say \\"hi\\""'],
    ["a number", 0, "0"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])("%s is sent as JSON, whose type may be its own", async (_what, body, sent, contentType?: string) => {
    await connect(server.url, options).request({ method: "PATCH", path: "/v1/x", body, contentType });
    expect(server.only.headers["content-type"]).toBe(contentType ?? "application/json");
    expect(server.only.headers["content-length"]).toBe(`${Buffer.byteLength(sent)}`);
    expect(server.only.body.toString()).toBe(sent);
  });

  test.each([
    ["a Uint8Array", bytes],
    ["a Blob", new Blob([bytes])],
    ["a part of a larger buffer", new Uint8Array([9, ...bytes, 9]).subarray(1, 6)],
  ])("%s is sent as it is, under the type that is given", async (_what, body) => {
    const contentType = "application/octet-stream";
    await connect(server.url, options).request({ method: "PUT", path: "/v1/x", body, contentType });
    expect(server.only.headers["content-type"]).toBe(contentType);
    expect(server.only.headers["content-length"]).toBe("5");
    expect([...server.only.body]).toEqual([...bytes]);
  });

  test("a FormData is sent with its boundary", async () => {
    const form = new FormData();
    form.set("purpose", "fine-tune");
    form.set("file", new Blob(["{}\n"]), "train.jsonl");
    const request = {
      method: "POST",
      path: "/v1/x",
      body: form,
      contentType: "multipart/form-data",
    } as const;
    await connect(server.url, options).request(request);
    expect(server.only.fields).toEqual({ purpose: "fine-tune" });
    expect(server.only.files).toMatchObject([{ part: "file", filename: "train.jsonl" }]);
    expect(server.only.files[0]?.bytes.toString()).toBe("{}\n");
  });

  test("accept comes before the headers of the client", async () => {
    const client = connect(server.url, { ...options, headers: { accept: "text/html", "x-own": "1" } });
    await client.request({ ...get("/v1/x"), accept: "text/csv" });
    expect(server.only.headers).toMatchObject({ accept: "text/csv", "x-own": "1" });
  });

  const responses: readonly (readonly [what: string, reply: Reply, value: unknown])[] = [
    ["JSON", { json: { a: [1] } }, { a: [1] }],
    ["a JSON list", { json: [1, 2] }, [1, 2]],
    ["JSON null", { json: null }, null],
    ["a type that ends in +json", { ...typed("application/problem+json; charset=utf-8"), text: "7" }, 7],
    ["text", { ...typed("text/csv"), text: "a,é\n" }, "a,é\n"],
    ["text in Latin-1", { ...typed("text/plain; charset=iso-8859-1"), text: new Uint8Array([233]) }, "é"],
    ["text in no known encoding", { ...typed("text/plain; charset=nonsense"), text: "é" }, "é"],
    ["any other type", { ...typed("application/octet-stream"), text: bytes }, bytes],
    ["JSON Lines", { ...typed("application/jsonl"), text: "{}\n" }, new TextEncoder().encode("{}\n")],
    ["an empty body", { text: "" }, undefined],
    ["204", { status: 204, text: "" }, undefined],
    ["201", { status: 201, json: { id: "x" } }, { id: "x" }],
    ["gzip", { headers: { "content-encoding": "gzip" }, text: gzipSync('{"z":1}') }, { z: 1 }],
  ];

  test.each(responses)("a response of %s is read as what it is", async (_what, reply, value) => {
    server.reply(reply);
    const result = await connect(server.url, options).request(get("/v1/x")).withResponse();
    expect(result.data).toStrictEqual(value);
    expect(result.httpStatus).toBe(reply.status ?? 200);
  });

  test("the response to HEAD is undefined, whatever its headers say", async () => {
    server.reply({ headers: { "content-encoding": "gzip", "content-length": "900", "x-count": "3" } });
    const result = await connect(server.url, options)
      .request({ method: "HEAD", path: "/v1/x" })
      .withResponse();
    expect(result.data).toBeUndefined();
    expect(result.headers["x-count"]).toBe("3");
  });

  test("a response that says it is JSON and is not fails, with what came as body", async () => {
    server.reply({ text: "{nope" });
    const error = await failureOf(() => connect(server.url, options).request(get("/v1/x")));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", body: "{nope", operation: "request" });
  });

  test("a response may have 1 MiB, or what maxResponseBytes says", async () => {
    const client = connect(server.url, options);
    server.reply({ ...typed("text/plain"), text: "x".repeat(1024 * 1024) });
    expect(await client.request(get("/v1/x"))).toHaveLength(1024 * 1024);
    const small = await failureOf(() => client.request(get("/v1/x"), { maxResponseBytes: 1000 }));
    expect(small).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes" });
    server.reply({ ...typed("text/plain"), text: "x".repeat(1024 * 1024 + 1) });
    const large = await failureOf(() => client.request(get("/v1/x")));
    expect(large).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes" });
    expect(await client.request(get("/v1/x"), { maxResponseBytes: 2 ** 21 })).toHaveLength(1024 * 1024 + 1);
  });

  test("an error and onAttempt name the request and never its query", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No such model." } });
    const request = { ...get("/v1/models/a b"), query: { secret: "x" } };
    const events: object[] = [];
    const client = connect(server.url, { ...options, onAttempt: (event) => events.push(event) });
    const error = await failureOf(() => client.request(request));
    const path = "/v1/models/a%20b";
    expect(events).toMatchObject([{ operation: "request", method: "GET", path, httpStatus: 404 }]);
    expect(error).toMatchObject({
      code: "NOT_FOUND",
      executed: "no",
      operation: "request",
      method: "GET",
      path,
    });
    expect(JSON.stringify([error, events])).not.toContain("secret");
  });
});

function typed(type: string): Pick<Reply, "headers"> {
  return { headers: { "content-type": type } };
}

test.each([...refusedPaths.map(([what, path]) => [what, { path }, {}, "path"] as const), ...refused])(
  "%s is refused before anything is sent",
  async (_what, request, options, named) => {
    const call = () =>
      connect(server.url).request(
        { ...get("/v1/models"), ...request } as ServiceRequest,
        options as RequestOptions,
      );
    const error = await failureOf(call);
    expect(error).toMatchObject({ executed: "no", codeSource: "client", operation: "request", attempts: [] });
    expect(["INVALID_ARGUMENT", "OUT_OF_RANGE"]).toContain(error.code);
    expect(error.message).toContain(named);
    expect(server.requests).toEqual([]);
  },
);

describe("the retries of any request", () => {
  useNoBackoff();

  const idempotent = ["GET", "HEAD", "PUT", "DELETE"] as const;
  const others = ["POST", "PATCH", "OPTIONS"] as const;
  const to = (method: ServiceRequest["method"]): ServiceRequest => ({ method, path: "/v1/things/a" });
  const notFound: Reply = { status: 404, json: { code: "NOT_FOUND", message: "No such thing." } };
  const gateway: Reply = { status: 502, text: "" };

  describe.each(transports)("over $name", ({ options }) => {
    const client = () => connect(server.url, { ...options, maxRetries: 2 });
    const failure = (request: ServiceRequest, own = {}): Promise<StatusError> =>
      failureOf(() => client().request(request, own));

    test.each(idempotent)(
      "%s is repeated when its connection is lost, unless it is said not to be idempotent",
      async (method) => {
        server.reply(inTurn(reset, gateway, { json: {} }));
        await client().request(to(method));
        expect(server.requests.map((request) => request.method)).toEqual([method, method, method]);
        server.reply(gateway);
        await failure(to(method), { idempotent: false });
        expect(server.requests).toHaveLength(4);
      },
    );

    test.each(others)("%s is not, unless it is said to be idempotent", async (method) => {
      server.reply(reset);
      const error = await failure(to(method));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", notRetried: "not-safe" });
      expect(server.requests).toHaveLength(1);
      server.reply(inTurn(reset, { json: {} }));
      await client().request(to(method), { idempotent: true });
      expect(server.requests).toHaveLength(3);
    });

    test("a POST is repeated when the service itself says UNAVAILABLE", async () => {
      server.reply(inTurn(unavailable, { json: { id: "a" } }));
      expect(await client().request(to("POST"))).toEqual({ id: "a" });
      expect(server.requests).toHaveLength(2);
    });

    test("a DELETE that was repeated and then got 404 may have run, and not one that got 404 at once", async () => {
      server.reply(inTurn(reset, notFound));
      const error = await failure(to("DELETE"));
      expect(error).toMatchObject({ code: "NOT_FOUND", httpStatus: 404, executed: "unknown" });
      expect(error.attempts).toHaveLength(2);
      expect(error.hint).toContain("may have deleted it");
      server.reply(notFound);
      expect(await failure(to("DELETE"))).toMatchObject({ code: "NOT_FOUND", executed: "no" });
    });

    const cutShort: Script = (_request, response) => {
      response.writeHead(200, { "content-length": "10" }).write("{");
      setImmediate(() => response.destroy());
      return undefined;
    };

    test("a PUT whose response was lost once has run, whatever a later attempt gets", async () => {
      server.reply(inTurn(cutShort, notFound));
      expect(await failure({ ...to("PUT"), body: {} })).toMatchObject({ code: "NOT_FOUND", executed: "yes" });
    });
  });
});

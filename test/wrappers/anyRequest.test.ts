import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Client, RequestOptions, ServiceRequest } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const get = (path: string): ServiceRequest => ({ method: "GET", path });
const bytes = new Uint8Array([0, 255, 128, 13, 10]);

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
  ["an empty segment", "/v1//models"],
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
  ["a method in small letters", { method: "get" }, {}, "method"],
  ["CONNECT", { method: "CONNECT" }, {}, "method"],
  ["an unknown field", { params: {} }, {}, "params"],
  ["a body with GET", { body: {} }, {}, "body"],
  ["a body with HEAD", { method: "HEAD", body: "x" }, {}, "body"],
  ["a query that is no object", { query: "a=1" }, {}, "query"],
  ["null in the query", { query: { a: null } }, {}, "query.a"],
  ["an object in the query", { query: { a: { b: 1 } } }, {}, "query.a"],
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
  ["a Map", { method: "PUT", body: new Map() }, {}, "body"],
  ["a stream", { method: "PUT", body: new Blob(["x"]).stream() }, {}, "body"],
  ["a function", { method: "PUT", body: () => {} }, {}, "body"],
  ["a bigint within", { method: "PUT", body: { a: 1n } }, {}, "body"],
  ["NaN within", { method: "PUT", body: { a: [Number.NaN] } }, {}, "body"],
  ["a circle", { method: "PUT", body: circle() }, {}, "body"],
  ["maxResponseBytes 0", {}, { maxResponseBytes: 0 }, "maxResponseBytes"],
  ["an account", {}, { accountId: "acme" }, "accountId"],
  ["the key as a header of its own", {}, { headers: { Authorization: "Bearer x" } }, "authorization"],
];

function circle(): object {
  const body: Record<string, unknown> = {};
  body.self = body;
  return body;
}

async function expectRefused(client: Client, request: object, options: object, named: string): Promise<void> {
  const error = await failureOf(() =>
    client.request({ ...get("/v1/models"), ...request } as ServiceRequest, options as RequestOptions),
  );
  expect(error).toMatchObject({ executed: "no", codeSource: "client", operation: "request", attempts: [] });
  expect(["INVALID_ARGUMENT", "OUT_OF_RANGE"]).toContain(error.code);
  expect(error.message).toContain(named);
  expect(server.requests).toEqual([]);
}

describe.each(transports)("over $name", ({ options }) => {
  test.each(encoded)("%s is sent encoded, and its colons as they are", async (_what, path, sent) => {
    await connect(server.url, options).request(get(path));
    expect(server.only).toMatchObject({ method: "GET", url: sent });
  });

  test.each(refusedPaths)("%s is refused before anything is sent", async (_what, path) => {
    await expectRefused(connect(server.url, options), { path }, {}, "path");
  });

  test.each(refused)("%s is refused before anything is sent", async (_what, request, own, named) => {
    await expectRefused(connect(server.url, options), request, own, named);
  });

  test("the path is appended to that of the base URL, and the query encoded", async () => {
    const query = { filter: "a&b=c'd #é", page: 2, all: true, tag: ["x", "y"], none: undefined, "q?": "" };
    await connect(`${server.url}/team/api/`, options).request({ ...get("/v1/models"), query });
    const search = "?filter=a%26b%3Dc%27d%20%23%C3%A9&page=2&all=true&tag=x&tag=y&q%3F=";
    expect(server.only.url).toBe(`/team/api/v1/models${search}`);
  });

  test.each(["GET", "HEAD", "DELETE", "OPTIONS"] as const)("%s without a body sends none", async (method) => {
    await connect(server.url, options).request({ method, path: "/v1/models" });
    const { headers, body } = server.only;
    expect(headers["content-type"]).toBeUndefined();
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(body.byteLength).toBe(0);
    expect(headers).toMatchObject({ authorization: `Bearer ${canaryKey}`, accept: "application/json" });
  });

  test("a POST without a body says that it has none", async () => {
    await connect(server.url, options).request({ method: "POST", path: "/v1/models" });
    expect(server.only.headers["content-length"]).toBe("0");
    expect(server.only.headers["content-type"]).toBeUndefined();
  });

  test.each([
    ["an object", { a: [1, "é", null], b: undefined }, '{"a":[1,"é",null]}'],
    ["a list", [], "[]"],
    ["null", null, "null"],
    ["a text", 'say "hi"', '"say \\"hi\\""'],
    ["a number", 0, "0"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])("%s is sent as JSON", async (_what, body, sent) => {
    await connect(server.url, options).request({ method: "PATCH", path: "/v1/x", body });
    expect(server.only.headers["content-type"]).toBe("application/json");
    expect(server.only.headers["content-length"]).toBe(`${Buffer.byteLength(sent)}`);
    expect(server.only.body.toString()).toBe(sent);
  });

  test("JSON may have a type of its own", async () => {
    const contentType = "application/merge-patch+json";
    await connect(server.url, options).request({ method: "PATCH", path: "/v1/x", body: {}, contentType });
    expect(server.only.headers["content-type"]).toBe(contentType);
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

  test("an error names the request and never its query", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No such model." } });
    const request = { ...get("/v1/models/a b"), query: { secret: "x" } };
    const error = await failureOf(() => connect(server.url, options).request(request));
    const path = "/v1/models/a%20b";
    expect(error).toMatchObject({
      code: "NOT_FOUND",
      executed: "no",
      operation: "request",
      method: "GET",
      path,
    });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

function typed(type: string): Pick<Reply, "headers"> {
  return { headers: { "content-type": type } };
}

test("a client needs no account for it", async () => {
  await connect(server.url, { accountId: undefined }).request(get("/v1/models"));
  expect(server.requests).toHaveLength(1);
});

test("bytes whose buffer was transferred are refused", async () => {
  const body = new Uint8Array([1, 2]);
  structuredClone(body, { transfer: [body.buffer] });
  await expectRefused(
    connect(server.url),
    { method: "PUT", body, contentType: "application/octet-stream" },
    {},
    "argument",
  );
});

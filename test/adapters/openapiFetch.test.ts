import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createOpenapiClient, type OpenapiClient, type paths } from "../../src/adapters/openapiFetch.js";
import { isStatusError, type StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { goodText, inTurn, reset, silence, unavailable } from "../support/responses.js";
import { isPending } from "../support/turns.js";

const server = useRecordingServer();
useNoBackoff();

/** A document of a user's own, as openapi-typescript writes it. */
interface Other {
  "/v1/models/{id}": {
    get: {
      parameters: { query?: { view?: string; tag?: string[] }; path: { id: string } };
      responses: {
        200: { content: { "application/json": { name: string } } };
        404: { content: { "application/json": { code: string; message: string } } };
      };
    };
    delete: { parameters: { path: { id: string } }; responses: { 204: { content?: never } } };
    head: { parameters: { path: { id: string } }; responses: { 200: { content?: never } } };
    post: {
      parameters: { path: { id: string } };
      requestBody: { content: { "application/json": { size: number } } };
      responses: { 200: { content: { "text/plain": string } } };
    };
  };
}

const notFound: Reply = {
  status: 404,
  headers: { "x-request-id": "r-4", "retry-after": "3" },
  json: { code: "NOT_FOUND", message: "No such model." },
};
const rerank = { body: { query: "q", documents: ["a", "b"] } } as const;
const job = "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume";

describe.each(transports)("over $name", ({ options }) => {
  const contract = (own = {}): OpenapiClient<paths> =>
    createOpenapiClient(connect(server.url, { ...options, ...own }));
  const other = (own = {}): OpenapiClient<Other> =>
    createOpenapiClient<Other>(connect(server.url, { ...options, ...own }));

  test("an operation of the contract is sent with the client's key and headers, and its response typed", async () => {
    server.reply({ json: { object: "list", model: "m", data: [], usage: { total_tokens: 3 } } });
    const { data, error, response } = await contract({ headers: { "x-team": "1" } }).POST(
      "/inference/v1/rerank",
      rerank,
    );
    expect(error).toBeUndefined();
    expect(data?.usage.total_tokens).toBe(3);
    expect(response.status).toBe(200);
    expect(server.only).toMatchObject({ method: "POST", url: "/inference/v1/rerank" });
    expect(JSON.parse(`${server.only.body}`)).toEqual(rerank.body);
    expect(server.only.headers).toMatchObject({
      authorization: `Bearer ${canaryKey}`,
      "content-type": "application/json",
      "x-team": "1",
    });
    expect(server.only.headers["user-agent"]).toMatch(/^tunerank\//);
  });

  test.each([
    ["Headers", new Headers([["x-a", "1"]])],
    ["pairs", [["x-a", "1"]]],
    ["a record", { "x-a": "1", "x-b": undefined, "x-none": null }],
  ])("headers may be %s, of the client and of a call", async (_kind, headers) => {
    const given = { headers: headers as Headers };
    await createOpenapiClient(connect(server.url, options), given).POST("/inference/v1/rerank", rerank);
    await contract().POST("/inference/v1/rerank", { ...rerank, ...given });
    expect(server.requests.map((request) => request.headers["x-a"])).toEqual(["1", "1"]);
    expect(Object.keys(server.requests[1]?.headers ?? {})).not.toContain("x-b");
  });

  test("a verb stays literal, and a colon within an id does not", async () => {
    const path = { account_id: "acme", reinforcement_fine_tuning_job_id: "job:1 é" };
    await contract().POST(job, { params: { path }, body: {} });
    expect(server.only.url).toBe("/v1/accounts/acme/reinforcementFineTuningJobs/job%3A1%20%C3%A9:resume");
  });

  test("the path of the base URL is kept, and the query written as openapi-fetch writes it", async () => {
    const api = createOpenapiClient<Other>(connect(`${server.url}/team`, options));
    const params = { path: { id: "a" }, query: { view: "it's & more", tag: ["x", "y"] } };
    await api.GET("/v1/models/{id}", { params });
    expect(server.only.url).toBe("/team/v1/models/a?view=it%27s%20%26%20more&tag=x&tag=y");
  });

  test("a response that is an error is `error`: a StatusError with the body", async () => {
    server.reply(notFound);
    const { data, error, response } = await other().GET("/v1/models/{id}", { params: { path: { id: "a" } } });
    expect(data).toBeUndefined();
    expect(isStatusError(error, "NOT_FOUND")).toBe(true);
    expect(error).toMatchObject({ httpStatus: 404, executed: "no", requestId: "r-4", method: "GET" });
    expect(error?.path).toBe("/v1/models/a");
    expect(error?.host).toBe(new URL(server.url).host);
    expect(error?.body?.message).toBe("No such model.");
    expect([response.status, response.headers.get("retry-after")]).toEqual([404, "3"]);
  });

  test("an error without a body is `error` all the same, also of a HEAD", async () => {
    server.reply({ status: 503, text: "" });
    const params = { path: { id: "a" } };
    const posted = await other().POST("/v1/models/{id}", { params, body: { size: 1 } });
    expect(posted.error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", notRetried: "not-safe" });
    const asked = await other().HEAD("/v1/models/{id}", { params });
    expect(asked.error).toMatchObject({ code: "UNAVAILABLE", httpStatus: 503 });
  });

  test("what ends without a response is thrown", async () => {
    const params = { path: { id: "a" } };
    server.reply(reset);
    const lost = await failureOf(() => other().DELETE("/v1/models/{id}", { params }));
    expect(lost).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    server.reply(silence);
    const controller = new AbortController();
    const call = failureOf(() => other().GET("/v1/models/{id}", { params, signal: controller.signal }));
    await server.received(2);
    controller.abort();
    expect((await call).code).toBe("CANCELLED");
  });

  test("retries are the client's, and a call's options count", async () => {
    const params = { path: { id: "a" } };
    server.reply(inTurn({ status: 502, text: "" }, reset, { json: { name: "a" } }));
    const { data } = await other({ maxRetries: 2 }).GET("/v1/models/{id}", { params });
    expect(data?.name).toBe("a");
    expect(server.requests).toHaveLength(3);
    server.reset();
    server.reply(reset);
    const body = { size: 1 };
    await failureOf(() => other({ maxRetries: 2 }).POST("/v1/models/{id}", { params, body }));
    expect(server.requests).toHaveLength(1);
    await failureOf(() =>
      other({ maxRetries: 2 }).POST("/v1/models/{id}", { params, body, idempotent: true }),
    );
    expect(server.requests).toHaveLength(4);
    expect(`${server.requests[3]?.body}`).toBe('{"size":1}');
    server.reset();
    server.reply(unavailable);
    const { error } = await other().GET("/v1/models/{id}", { params, maxRetries: 1 });
    expect((error as StatusError).attempts).toHaveLength(2);
  });

  test("an empty response is undefined, and parseAs is openapi-fetch's", async () => {
    const params = { path: { id: "a" } };
    server.reply({ status: 204, text: "" });
    expect((await other().DELETE("/v1/models/{id}", { params })).data).toBeUndefined();
    server.reply({ headers: { "content-type": "text/plain" }, text: "done" });
    const posted = await other().POST("/v1/models/{id}", { params, body: { size: 1 }, parseAs: "text" });
    expect(posted.data).toBe("done");
    const buffer = await other().GET("/v1/models/{id}", { params, parseAs: "arrayBuffer" });
    expect(buffer.data).toEqual(new TextEncoder().encode("done").buffer);
  });

  test("a response that is not JSON is thrown as a StatusError", async () => {
    const params = { path: { id: "a" } };
    server.reply({ text: "{nope" });
    const broken = await failureOf(() => other().GET("/v1/models/{id}", { params }));
    expect(broken).toMatchObject({ code: "INTERNAL", executed: "yes", body: "{nope" });
    server.reply({ headers: { "content-type": "text/plain" }, text: "nope" });
    const text = await failureOf(() => other().GET("/v1/models/{id}", { params }));
    expect(text).toMatchObject({ code: "INTERNAL", executed: "yes", httpStatus: 200 });
    expect(text.message).not.toContain("nope");
  });

  test("a form is sent as one", async () => {
    const path = { account_id: "acme", dataset_id: "reviews" };
    await contract().POST("/v1/accounts/{account_id}/datasets/{dataset_id}:upload", {
      params: { path },
      body: { file: "{}\n" },
      bodySerializer({ file }) {
        const form = new FormData();
        form.set("file", new Blob([file]), "train.jsonl");
        return form;
      },
    });
    expect(server.only.files).toMatchObject([{ part: "file", filename: "train.jsonl" }]);
    expect(server.only.headers["content-length"]).toMatch(/^\d+$/);
  });

  test("middleware may make a Request and a Response of its own", async () => {
    const api = other();
    const params = { path: { id: "a" } };
    api.use({
      onRequest: ({ request }) => new Request(request, { headers: { "x-own": "2" } }),
      onResponse: () => new Response('{"name":"mine"}'),
    });
    const { data } = await api.GET("/v1/models/{id}", { params });
    expect(server.only.headers["x-own"]).toBe("2");
    expect(data?.name).toBe("mine");
  });
});

test("what is no client is refused at once, and so are an unknown option and headers that hold no pairs", () => {
  const client = connect(server.url);
  expect(thrownBy(() => createOpenapiClient({} as never)).message).toContain("createClient");
  const headers = new Set(["x-a"]);
  for (const [options, problem] of [
    [{ baseUrl: "x" }, "baseUrl"],
    [{ headers }, "headers must be a plain object, not Set."],
  ] as const)
    expect(thrownBy(() => createOpenapiClient(client, options as never)).message).toContain(problem);
});

const anyPath = "/v1/models/{id}";
test.each<[path: string, init: object, problem?: string]>([
  ...[".", "..", "", "a/b", "..%2f", "a?b", "a#b", "a\\b", "\n", "\ud83d"].map((id): [string, object] => [
    anyPath,
    { params: { path: { id } } },
  ]),
  [anyPath, { params: { path: {} } }, "params.path has no id"],
  ...["/v1/models/../x", "/v1//x", "v1/x", "/v1/x#y", "/v1/x/%2e%2e"].map((path): [string, object] => [
    path,
    {},
  ]),
  // A call cannot go around the client.
  ["/v1/x", { baseUrl: "https://evil.test" }],
  ["/v1/x", { fetch: globalThis.fetch }],
  ["/v1/x", { Request }],
  ["/v1/x", { headers: new Set(["x-a"]) }, "headers must be a plain object, not Set."],
])("a call of %j with %j is refused before anything is sent", async (path, init, problem = "") => {
  const api = createOpenapiClient<Record<string, { get: { responses: object } }>>(connect(server.url));
  const error = await failureOf(() => api.GET(path, init as never));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
  if (path === anyPath) expect(error.operation).toBe("request");
  expect(error.message).toContain(problem);
  expect(server.requests).toEqual([]);
});

test("a response has no header of how its body was sent: the body is decoded", async () => {
  server.reply({
    headers: { "content-encoding": "gzip", "x-request-id": "r-1" },
    text: gzipSync(goodText),
  });
  const api = createOpenapiClient(connect(server.url));
  const body = { query: "q", documents: ["d".repeat(3000)] };
  const { response } = await api.POST("/inference/v1/rerank", { body });
  expect(server.only.headers["accept-encoding"]).toContain("gzip");
  const names = [...response.headers.keys()];
  expect(names).toContain("x-request-id");
  for (const name of ["content-encoding", "content-length", "transfer-encoding"])
    expect(names).not.toContain(name);
});

test("a call's timeoutMs is its deadline", async () => {
  server.reply(silence);
  const clock = new TestClock();
  clock.install();
  const api = createOpenapiClient(connect(server.url));
  const body = { query: "q", documents: ["d"] };
  const failed = failureOf(() => api.POST("/inference/v1/rerank", { body, timeoutMs: 700 }));
  await server.received();
  clock.pass(700);
  const isOver = !(await isPending(failed));
  clock.remove();
  expect(isOver).toBe(true);
  expect((await failed).text).toBe("No complete response within 700 ms (timeoutMs).");
});

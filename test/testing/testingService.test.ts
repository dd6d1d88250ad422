import { createHash, randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/index.js";
import {
  createTestService,
  type ServedRequest,
  type TestRequest,
  type TestServer,
} from "../../src/testing/index.js";
import { ask } from "../support/ask.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";

const service = createTestService();
const server = await service.listen();
afterEach(() => service.reset());
afterAll(() => server.close());

const ways: [name: string, client: Client][] = [
  ["its fetch", connect("https://service.test", { fetch: service.fetch })],
  ["its port", connect(server.url)],
  ["its port, through fetch", connect(server.url, { fetch: globalThis.fetch })],
];

function onlyRequest(): TestRequest {
  expect(service.requests).toHaveLength(1);
  return service.requests[0] as TestRequest;
}

describe.each(ways)("the mock server through %s", (_name, client) => {
  test("ranks by shared words, highest first, as many as asked for", async () => {
    const documents = [
      "Rome is old.",
      "PARIS",
      "Paris is the capital of France",
      "the capital, of: France!",
      "",
    ];
    const request = { query: "the capital of France", documents, top_n: 3 };
    const { data, object, model, usage } = await client.rerank(request);
    // Four words shared of four and four, of four and six; none, but the earlier one first.
    expect(data).toEqual([
      { index: 3, relevance_score: 1, document: documents[3] },
      { index: 2, relevance_score: 4 / Math.sqrt(24), document: documents[2] },
      { index: 0, relevance_score: 0, document: documents[0] },
    ]);
    expect({ object, model }).toEqual({ object: "list", model: "accounts/stand-in/models/shared-words" });
    // Four words for each of five documents, and 3 + 1 + 6 + 4 + 0 of their own.
    expect(usage).toEqual({ prompt_tokens: 34, total_tokens: 34 });
  });

  test("names the model it was asked for, and leaves documents out when told to", async () => {
    const model = "accounts/acme/models/m";
    const response = await client.rerank({ query: "q", documents: ["q"], model, return_documents: false });
    expect(response).toMatchObject({ model, data: [{ index: 0, relevance_score: 1 }] });
    expect(response.data[0]).not.toHaveProperty("document");
  });

  test("keeps the number of replicas", async () => {
    await client.deployments.scale("prod", 7);
    await client.deployments.scale("prod", 0);
    await client.deployments.scale("other", 3, { accountId: "zeta" });
    expect([...service.deployments.values()]).toEqual([
      { name: "accounts/acme/deployments/prod", replicaCount: 0 },
      { name: "accounts/zeta/deployments/other", replicaCount: 3 },
    ]);
  });

  test("resumes a job once", async () => {
    const job = await client.reinforcementFineTuningJobs.resume("job 1");
    const name = "accounts/acme/reinforcementFineTuningJobs/job 1";
    expect(job).toMatchObject({ name, displayName: "job 1", state: "JOB_STATE_RUNNING" });
    expect(service.jobs.get(name)).toEqual(job);
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job 1"));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", httpStatus: 400, codeSource: "body" });
  });

  test("counts and hashes every byte of a file, whatever is in it", async () => {
    const [begin, end] = ["\r\n--tunerank-\r\n\r\n\r\n--", "\r\n"].map((text) => Buffer.from(text));
    const content = Buffer.concat([begin as Buffer, randomBytes(300_000), end as Buffer]);
    const filename = 'ü "1".jsonl';
    const options = { name: filename, contentType: "text/x" };
    const response = await client.datasets.upload("reviews", content, options);
    expect(response).toMatchObject({ id: "file-1", object: "file", bytes: content.length, filename });
    const empty = await client.datasets.upload("reviews", new Uint8Array(), { name: "empty" });
    expect(empty).toMatchObject({ id: "file-2", bytes: 0 });
    const sha256 = createHash("sha256").update(content).digest("hex");
    const file = { filename, contentType: "text/x", bytes: content.length, sha256 };
    const dataset = "accounts/acme/datasets/reviews";
    const { name, files } = service.datasets.get(dataset) ?? {};
    expect({ name, file: files?.[0] }).toEqual({ name: dataset, file: { id: "file-1", ...file } });
    expect(files).toHaveLength(2);
    expect(service.requests[0]).toMatchObject({ operation: "upload", method: "POST", file });
    expect(service.requests[0]).not.toHaveProperty("body");
  });

  test("records requests as they arrived, refused ones too", async () => {
    await failureOf(() =>
      client.rerank({ query: "q", documents: ["d"], model: "m" }, { headers: { "x-a": "1" } }),
    );
    const { headers, ...request } = onlyRequest();
    expect(request).toEqual({
      operation: "rerank",
      method: "POST",
      path: "/inference/v1/rerank",
      body: { query: "q", documents: ["d"], model: "m" },
    });
    expect(headers).toMatchObject({ "x-a": "1", "content-type": "application/json" });
    expect(headers.authorization).toMatch(/^Bearer ./);
  });

  test("names each request, and forgets everything on reset", async () => {
    const requestId = async () => (await client.deployments.scale("prod", 2).withResponse()).requestId;
    expect([await requestId(), await requestId()]).toEqual(["req-1", "req-2"]);
    service.fail("scale", { code: "NOT_FOUND" });
    service.reset();
    expect(service.requests).toEqual([]);
    expect(service.deployments.size).toBe(0);
    expect(await requestId()).toBe("req-1");
  });
});

describe("a mock server that was told what exists", () => {
  const seeded = createTestService({
    apiKey: "right",
    jobs: { paused: { displayName: "Mine", chunkSize: 500 }, failed: { state: "JOB_STATE_FAILED" } },
    deployments: { prod: 4 },
    datasets: ["reviews"],
  });
  afterEach(() => seeded.reset());
  const options = { baseUrl: "https://service.test", accountId: "acme", fetch: seeded.fetch, maxRetries: 0 };
  const client = createClient({ ...options, apiKey: "right" });

  test("knows nothing else", async () => {
    const calls = [
      () => client.reinforcementFineTuningJobs.resume("other"),
      () => client.deployments.scale("toString", 1),
      () => client.datasets.upload("other", new Uint8Array(), { name: "f" }),
    ];
    for (const call of calls)
      expect(await failureOf(call)).toMatchObject({ code: "NOT_FOUND", httpStatus: 404 });
    expect(seeded.jobs.size + seeded.deployments.size + seeded.datasets.size).toBe(0);
  });

  test("begins with what it was told", async () => {
    expect(await client.reinforcementFineTuningJobs.resume("paused")).toMatchObject({
      displayName: "Mine",
      chunkSize: 500,
      state: "JOB_STATE_RUNNING",
    });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("failed"));
    expect(error.message).toContain("JOB_STATE_FAILED");
    await client.datasets.upload("reviews", new Uint8Array(), { name: "f" });
    await failureOf(() => createClient({ ...options, apiKey: "wrong" }).deployments.scale("prod", 0));
    expect(seeded.deployments.size).toBe(0);
  });

  test("takes only its key", async () => {
    const error = await failureOf(() =>
      createClient({ ...options, apiKey: "wrong" }).deployments.scale("prod", 0),
    );
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
    expect(error.message).not.toContain("wrong");
  });
});

describe("sent by hand", () => {
  const headers = { authorization: "Bearer k" };
  const json = { ...headers, "content-type": "application/json" };
  const upload = "/v1/accounts/acme/datasets/reviews:upload";
  const form = (body: string) => ({
    method: "POST",
    headers: { ...headers, "content-type": 'multipart/form-data; boundary="a b"' },
    body: body.replaceAll("\n", "\r\n"),
  });
  const file = '--a b\nContent-Disposition: form-data; name="file"; filename="f"\n\nx\n';
  const other = '--a b\nContent-Disposition: form-data; name="purpose"\n\nx\n';
  const scale = "/v1/accounts/acme/deployments/prod:scale";
  const replicas = (number: string) => ({
    method: "PATCH",
    headers: json,
    body: `{"replicaCount":${number}}`,
  });

  const rerank = "/inference/v1/rerank";
  const badId = "/v1/accounts/acme/deployments/%ff:scale";
  const post = (body: string, sent: Readonly<Record<string, string>> = json) => ({
    method: "POST",
    headers: sent,
    body,
  });
  const bad = "INVALID_ARGUMENT";

  test.each<[name: string, path: string, init: object, status: number, code: string]>([
    ["another content type", rerank, post("{}", headers), 415, bad],
    ["what is no JSON", rerank, post("{"), 400, bad],
    ["another method", rerank, { ...post("{}"), method: "PUT" }, 405, "UNIMPLEMENTED"],
    ["another path", "/v1/rerank", post("{}"), 404, "NOT_FOUND"],
    ["an id that is not well encoded", badId, replicas("1"), 400, bad],
    ["an integer of 64 bits", scale, replicas("9223372036854775807"), 200, ""],
    ["an integer of more", scale, replicas("9223372036854775808"), 400, bad],
    ["an integer with an exponent", scale, replicas("1234567890123456789e1"), 400, bad],
    ["a form without its end", upload, form(file), 400, bad],
    ["a form of two parts", upload, form(`${file}${file}--a b--`), 400, bad],
    ["a form that is none", upload, form("x"), 400, bad],
    ["a form with a part that nobody knows", upload, form(`${other}${file}--a b--`), 200, ""],
    ["a form of one part", upload, form(`${file}--a b--\n`), 200, ""],
  ])("%s", async (_name, path, init, status, code) => {
    for (const send of [service.fetch, fetch]) {
      const response = await send(server.url + path, init);
      const { code: named = "" } = (await response.json()) as { code?: string };
      expect([response.status, named]).toEqual([status, code]);
    }
    expect(service.requests).toHaveLength(2);
    const [byFetch, byPort] = service.requests;
    expect({ ...byPort, headers: {} }).toEqual({ ...byFetch, headers: {} });
  });

  test("digits in a text stay as they are", async () => {
    const document = '"9223372036854775807\\"-9223372036854775807';
    const body = JSON.stringify({ query: "q", documents: [document], top_n: 1 });
    const response = await service.fetch(server.url + rerank, post(body));
    expect(await response.json()).toMatchObject({ data: [{ document }] });
  });

  test("another method is told which there is; strict, a part that the contract does not have is refused", async () => {
    for (const send of [service.fetch, fetch]) {
      const response = await send(server.url + rerank, { method: "DELETE" });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    const strict = createTestService({ strict: true });
    const refused = await strict.fetch(`https://service.test${upload}`, form(`${other}${file}--a b--`));
    expect(await refused.json()).toMatchObject({ message: "The form must have one part." });
  });

  test("a query is kept as it was sent; strict, one that the contract does not have is refused", async () => {
    const init = post(JSON.stringify({ query: "q", documents: ["d"] }));
    for (const send of [service.fetch, fetch])
      expect((await send(`${server.url}${rerank}?a=%20b?c`, init)).status).toBe(200);
    expect(service.requests.map(({ path, query }) => [path, query])).toEqual(
      Array(2).fill([rerank, "a=%20b?c"]),
    );
    const strict = createTestService({ strict: true });
    const refused = await strict.fetch(`https://service.test${rerank}?a=b`, init);
    expect(await refused.json()).toEqual({ code: bad, message: "There is no parameter a." });
  });
});

test("options that mean nothing are refused at once", () => {
  expect(thrownBy(() => createTestService({ apiKey: "a b" }))).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(thrownBy(() => createTestService([] as never))).toMatchObject({ code: "INVALID_ARGUMENT" });
});

describe("a mock server that listens", () => {
  let server: TestServer;
  const served: ServedRequest[] = [];

  beforeAll(async () => {
    server = await service.listen({
      allowOrigins: ["https://app.example.com"],
      onRequest: (request) => {
        served.push(request);
        throw new Error("of the listener's own");
      },
    });
  });
  afterAll(() => server.close());

  const preflight = (origin: string) =>
    fetch(`${server.url}/inference/v1/rerank`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
  const allowOrigin = "access-control-allow-origin";

  test.each<[origin: string, isAllowed: boolean]>([
    ["http://localhost", true],
    ["http://localhost:5173", true],
    ["https://127.0.0.1:8443", true],
    ["http://[::1]:3000", true],
    ["https://app.example.com", true],
    // A sandboxed frame of any site, and a file.
    ["null", false],
    ["https://evil.example.com", false],
    ["http://localhost.evil.test", false],
    ["http://evil.test:80@localhost", false],
    ["https://app.example.com.evil.test", false],
    ["http://app.example.com", false],
    ["http://127.0.0.1.evil.test", false],
  ])("a page of the origin %s may call it: %s", async (origin, isAllowed) => {
    const { status, headers } = await preflight(origin);
    const response = await fetch(`${server.url}/inference/v1/rerank`, {
      method: "POST",
      headers: { origin },
    });
    await response.text();
    const { headers: sent } = response;
    for (const each of [headers, sent]) expect(each.get(allowOrigin)).toBe(isAllowed ? origin : null);
    if (!isAllowed) return;
    expect([status, headers.get("vary")]).toEqual([204, "Origin"]);
    expect(headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    expect(sent.get("access-control-expose-headers")).toContain("x-request-id");
  });

  const asked = (url: string, host: string) =>
    ask(`${url}/inference/v1/rerank`, { method: "POST", headers: { host }, body: "{}" });

  test.each(["evil.example.com", "evil.example.com:4010", "127.0.0.1.evil.test", "10.0.0.7:4010"])(
    "a request for the host %s is refused, and not recorded, as long as it listens on this machine alone",
    async (host) => {
      service.reset();
      const [status, body] = await asked(server.url, host);
      expect([status, JSON.parse(body).code]).toEqual([403, "PERMISSION_DENIED"]);
      expect(JSON.parse(body).message).toContain("Call it as 127.0.0.1 or localhost");
      expect(service.requests).toEqual([]);
    },
  );

  test.each(["127.0.0.1:1", "localhost", "LOCALHOST:4010", "[::1]:4010", "127.1.2.3"])(
    "a request for the host %s gets a response",
    async (host) => {
      expect((await asked(server.url, host))[0]).not.toBe(403);
    },
  );

  test("what listens for other machines is called by whatever name they have for it", async () => {
    const open = await service.listen({ host: "0.0.0.0" });
    try {
      const url = `http://127.0.0.1:${new URL(open.url).port}`;
      expect((await asked(url, "mock.test"))[0]).not.toBe(403);
    } finally {
      await open.close();
    }
  });

  test("what is no page gets no such header", async () => {
    const { headers } = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST" });
    expect([headers.get(allowOrigin), headers.get("vary")]).toEqual([null, null]);
  });

  test("onRequest hears of every request once its response was sent, and what it throws is ignored", async () => {
    served.length = 0;
    service.reset();
    await connect(server.url).deployments.scale("prod", 1);
    await expect.poll(() => served.length).toBe(1);
    const path = "/v1/accounts/acme/deployments/prod:scale";
    expect(served[0]).toMatchObject({ method: "PATCH", path, status: 200, requestId: "req-1" });
    service.fail("scale", { reset: true });
    await failureOf(() => connect(server.url).deployments.scale("prod", 1));
    await expect.poll(() => served.length).toBe(2);
    expect(served[1]).toMatchObject({ method: "PATCH", path, status: undefined });
  });

  test.each([
    [{ allowOrigins: ["*"] }, "allowOrigins"],
    [{ allowOrigins: ["https://app.example.com/"] }, "allowOrigins"],
    [{ allowOrigins: "https://app.example.com" }, "allowOrigins"],
    [{ onRequest: "log" }, "onRequest"],
    [{ origins: [] }, "origins"],
  ])("listen refuses %j", async (options, named) => {
    const error = await failureOf(() => service.listen(options as never));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(error.message).toContain(named);
  });

  test("keepRequests keeps the last ones only, and their ids go on", async () => {
    const small = createTestService({ keepRequests: 2 });
    const client = connect("https://service.test", { fetch: small.fetch });
    const ids = [];
    for (const id of ["a", "b", "c"])
      ids.push((await client.deployments.scale(id, 1).withResponse()).requestId);
    expect(ids).toEqual(["req-1", "req-2", "req-3"]);
    expect(small.requests.map(({ path }) => path.slice(-7))).toEqual(["b:scale", "c:scale"]);
    small.reset();
    expect(small.requests).toEqual([]);
  });

  test("keepRequests keeps at most 64 MiB of bodies", async () => {
    const small = createTestService({ keepRequests: 1000 });
    const client = connect("https://service.test", { fetch: small.fetch });
    const documents = ["x".repeat(20 * 1024 * 1024)];
    for (let at = 0; at < 4; at++)
      await client.rerank({ query: `${at}`, documents, return_documents: false });
    expect(small.requests.map(({ body }) => (body as { query: string }).query)).toEqual(["1", "2", "3"]);
  });
});

test("a port that is taken rejects", async () => {
  const port = Number(new URL(server.url).port);
  await expect(service.listen({ port })).rejects.toMatchObject({
    ...{ code: "FAILED_PRECONDITION", cause: { code: "EADDRINUSE" } },
    hint: "Choose another port, or 0 for any free one.",
  });
});

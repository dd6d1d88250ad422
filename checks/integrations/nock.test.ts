import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import nock from "nock";
import { type ClientOptions, createClient } from "tunerank";

const origin = "https://service.test";
const connect = (options: ClientOptions = {}) =>
  createClient({ baseUrl: origin, apiKey: "test-key", accountId: "acme", ...options });
const scalePath = "/v1/accounts/acme/deployments/prod:scale";

before(() => nock.disableNetConnect());
after(() => nock.restore());
afterEach(() => {
  assert.deepEqual(nock.pendingMocks(), []);
  nock.cleanAll();
});

test("rerank is matched by body and key, and gets a response", async () => {
  const body = { query: "q", documents: ["a", "b"] };
  nock(origin, { reqheaders: { authorization: "Bearer test-key", "content-type": "application/json" } })
    .post("/inference/v1/rerank", body)
    .reply(200, { data: [{ index: 1, relevance_score: 0.5 }] }, { "x-request-id": "r" });
  const { data, requestId } = await connect().rerank(body).withResponse();
  assert.deepEqual(data.data, [{ index: 1, relevance_score: 0.5 }]);
  assert.equal(requestId, "r");
});

test("an error status is repeated as ever: two failures, then the response", async () => {
  nock(origin)
    .patch(scalePath, { replicaCount: 0 })
    .times(2)
    .reply(503, { code: "UNAVAILABLE" }, { "retry-after-ms": "1" })
    .patch(scalePath, { replicaCount: 0 })
    .reply(200, {});
  const { attempts } = await connect().deployments.scale("prod", 0).withResponse();
  assert.deepEqual(
    attempts.map(({ httpStatus }) => httpStatus),
    [503, 503, 200],
  );
});

test("a refusal is the client's error", async () => {
  nock(origin).patch(scalePath).reply(404, { code: "NOT_FOUND", message: "No such deployment." });
  await assert.rejects(connect().deployments.scale("prod", 0), {
    name: "StatusError",
    code: "NOT_FOUND",
    httpStatus: 404,
    executed: "no",
  });
});

test("an upload's body can be read, and matched", async () => {
  const content = "{}\n".repeat(1000);
  let body = "";
  nock(origin)
    .post("/v1/accounts/acme/datasets/reviews:upload", (sent) => {
      body = sent;
      return true;
    })
    .matchHeader("content-type", /^multipart\/form-data; boundary=/)
    .reply(200, { id: "file-1", bytes: content.length });
  const options = { name: "train.jsonl", verifyBytes: true };
  const stored = await connect().datasets.upload("reviews", new Blob([content]), options);
  assert.equal(stored.id, "file-1");
  assert.match(body, /name="file"; filename="train\.jsonl"/);
  assert.ok(body.includes(`\r\n\r\n${content}\r\n--`));
});

test("a file from disk is sent whole", async () => {
  const path = fileURLToPath(new URL("package.json", import.meta.url));
  let body = "";
  nock(origin)
    .post("/v1/accounts/acme/datasets/reviews:upload", (sent) => {
      body = sent;
      return true;
    })
    .reply(200, { id: "file-1" });
  await connect().datasets.upload("reviews", path);
  assert.ok(body.includes('"name": "tunerank-check-integrations"'));
});

test("a connection that nock breaks is a lost connection", async () => {
  nock(origin)
    .patch(scalePath)
    .replyWithError(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  const call = connect({ maxRetries: 0 }).deployments.scale("prod", 0);
  await assert.rejects(call, { name: "StatusError", code: "UNAVAILABLE" });
});

test("a response that comes too late ends with the call's deadline", async () => {
  nock(origin).patch(scalePath).delay(2000).reply(200, {});
  // A retry would find no response prepared.
  const call = connect({ timeoutMs: 100, maxRetries: 0 }).deployments.scale("prod", 0);
  await assert.rejects(call, { code: "DEADLINE_EXCEEDED" });
});

for (const [transport, options] of [
  ["node:http", {}],
  ["fetch", { fetch: (url: string, init: never) => fetch(url, init) }],
] as const) {
  test(`over ${transport} a call that nothing is prepared for fails, and names what was asked`, async () => {
    nock(origin).get("/other").reply(200);
    const call = connect({ ...options, maxRetries: 2 }).deployments.scale("prod", 0);
    await assert.rejects(call, {
      code: "INTERNAL",
      executed: "no",
      attempts: [],
      message: /The mock has no response for this request: Nock: No match for request/,
    });
    nock.cleanAll();
  });

  test(`over ${transport} a call to a host that nothing is prepared for goes nowhere, once`, async () => {
    const call = connect({ ...options, maxRetries: 2 }).deployments.scale("prod", 0);
    await assert.rejects(call, {
      code: "INTERNAL",
      executed: "no",
      attempts: [],
      message: /The mock has no response for this request: .*Disallowed net connect/,
    });
  });
}

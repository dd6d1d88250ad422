import { afterAll, beforeAll, expect, test } from "vitest";
import { type AnsweredRequest, createTestService, type TestServer } from "../src/testing/index.js";
import { connect, failureOf } from "./support/clients.js";

let server: TestServer;
const service = createTestService();
const answered: AnsweredRequest[] = [];

beforeAll(async () => {
  server = await service.listen({
    allowOrigins: ["https://app.example.com"],
    onRequest: (request) => {
      answered.push(request);
      throw new Error("of the listener's own");
    },
  });
});
afterAll(() => server.close());

const preflight = (origin: string, more = {}) =>
  fetch(`${server.url}/inference/v1/rerank`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
      ...more,
    },
  });
const allowOrigin = "access-control-allow-origin";

test.each([
  "null",
  "http://localhost",
  "http://localhost:5173",
  "https://127.0.0.1:8443",
  "http://[::1]:3000",
  "https://app.example.com",
])("a page of the origin %s may call it", async (origin) => {
  const { status, headers } = await preflight(origin);
  expect(status).toBe(204);
  expect(headers.get(allowOrigin)).toBe(origin);
  expect(headers.get("access-control-allow-methods")).toContain("PATCH");
  expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type");
  expect(headers.get("vary")).toBe("Origin");
  const answer = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST", headers: { origin } });
  expect(answer.headers.get(allowOrigin)).toBe(origin);
  expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test.each([
  "https://evil.example.com",
  "http://localhost.evil.test",
  "http://evil.test:80@localhost",
  "https://app.example.com.evil.test",
  "http://app.example.com",
  "http://127.0.0.1.evil.test",
])("a page of the origin %s may not", async (origin) => {
  const asked = await preflight(origin, { "access-control-request-private-network": "true" });
  expect(asked.headers.get(allowOrigin)).toBeNull();
  expect(asked.headers.get("access-control-allow-private-network")).toBeNull();
  const answer = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST", headers: { origin } });
  expect(answer.headers.get(allowOrigin)).toBeNull();
});

test("a page of the public network may reach it where the browser asks", async () => {
  const { headers } = await preflight("https://app.example.com", {
    "access-control-request-private-network": "true",
  });
  expect(headers.get("access-control-allow-private-network")).toBe("true");
});

test("what is no page gets no such header", async () => {
  const { headers } = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST" });
  expect([headers.get(allowOrigin), headers.get("vary")]).toEqual([null, null]);
});

test("onRequest hears of every request once it is answered, and what it throws is ignored", async () => {
  answered.length = 0;
  service.reset();
  await connect(server.url).deployments.scale("prod", 1);
  await expect.poll(() => answered.length).toBe(1);
  const path = "/v1/accounts/acme/deployments/prod:scale";
  expect(answered[0]).toMatchObject({ method: "PATCH", path, status: 200, requestId: "req-1" });
  service.fail("scale", { reset: true });
  await failureOf(() => connect(server.url).deployments.scale("prod", 1));
  await expect.poll(() => answered.length).toBe(2);
  expect(answered[1]).toMatchObject({ method: "PATCH", path, status: undefined });
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
  for (let at = 0; at < 4; at++) await client.rerank({ query: `${at}`, documents, return_documents: false });
  expect(small.requests.map(({ body }) => (body as { query: string }).query)).toEqual(["1", "2", "3"]);
});

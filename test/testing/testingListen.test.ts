import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestService, type ServedRequest, type TestServer } from "../../src/testing/index.js";
import { ask } from "../support/ask.js";
import { connect, failureOf } from "../support/clients.js";

let server: TestServer;
const service = createTestService();
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

test.each([
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
  const response = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST", headers: { origin } });
  expect(response.headers.get(allowOrigin)).toBe(origin);
  expect(response.headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test.each([
  // A sandboxed frame of any site, and a file.
  "null",
  "https://evil.example.com",
  "http://localhost.evil.test",
  "http://evil.test:80@localhost",
  "https://app.example.com.evil.test",
  "http://app.example.com",
  "http://127.0.0.1.evil.test",
])("a page of the origin %s may not", async (origin) => {
  expect((await preflight(origin)).headers.get(allowOrigin)).toBeNull();
  const response = await fetch(`${server.url}/inference/v1/rerank`, { method: "POST", headers: { origin } });
  expect(response.headers.get(allowOrigin)).toBeNull();
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
  for (let at = 0; at < 4; at++) await client.rerank({ query: `${at}`, documents, return_documents: false });
  expect(small.requests.map(({ body }) => (body as { query: string }).query)).toEqual(["1", "2", "3"]);
});

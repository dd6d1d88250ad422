import { afterAll, afterEach, describe, expect, test } from "vitest";
import { nameOf } from "../../src/testing/behaviours.js";
import { createTestService, type ScriptedFailure } from "../../src/testing/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { idsWhere } from "../support/contract.js";
import { isPending, until } from "../support/turns.js";
import { withHint } from "../support/withHint.js";

const service = createTestService();
const clock = useTestClock();
useNoBackoff();
const server = await service.listen();
afterAll(() => server.close());
afterEach(() => service.reset());

const ways: [name: string, open: (options?: object) => ReturnType<typeof connect>][] = [
  ["its fetch", (options) => connect("https://service.test", { fetch: service.fetch, ...options })],
  ["its port", (options) => connect(server.url, options)],
  ["its port, through fetch", (options) => connect(server.url, { fetch: globalThis.fetch, ...options })],
];
const body = { query: "q", documents: ["q"] };

describe.each(ways)("scripted failures through %s", (_name, open) => {
  test("the issued example: twice UNAVAILABLE, then the response", async () => {
    service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 });
    const running = open({ maxRetries: 2 }).rerank(body).withResponse();
    await clock.passWhenWaiting(1000);
    await clock.passWhenWaiting(1000);
    const { attempts } = await running;
    expect(attempts.map(({ httpStatus }) => httpStatus)).toEqual([503, 503, 200]);
    expect(service.requests).toHaveLength(3);
  });

  test("status, code, message, headers and Retry-After are those of the script", async () => {
    service.fail("scale", {
      status: 429,
      code: "RESOURCE_EXHAUSTED",
      message: "Slowly.",
      retryAfter: 90,
      headers: { "X-Request-Id": "mine" },
    });
    const error = await failureOf(() => open().deployments.scale("prod", 5));
    const { codeSource } = error;
    const told = { code: "RESOURCE_EXHAUSTED", httpStatus: 429, retryAfterMs: 90_000, requestId: "mine" };
    expect(error).toMatchObject(told);
    expect(error.message).toBe(withHint("[RESOURCE_EXHAUSTED] Slowly.", error));
    expect(codeSource).toBe("body");
    expect(service.deployments.size).toBe(0);
  });

  test("without a code the body names none; without a status it is the code's", async () => {
    service.fail("rerank", { status: 409 });
    service.fail("rerank", { code: "ABORTED" });
    service.fail("rerank", { status: 502, body: "<title>Bad Gateway</title>" });
    const client = open();
    const unnamed = { code: "ABORTED", codeSource: "status", inferred: true };
    expect(await failureOf(() => client.rerank(body))).toMatchObject(unnamed);
    const named = { code: "ABORTED", codeSource: "body", httpStatus: 409 };
    expect(await failureOf(() => client.rerank(body))).toMatchObject(named);
    const error = await failureOf(() => client.rerank(body));
    expect(error.message).toBe(withHint("[UNAVAILABLE] Bad Gateway", error));
    expect((await client.rerank(body)).object).toBe("list");
  });

  test("a response of one's own may be a success", async () => {
    service.fail("rerank", { status: 200, body: { object: "list", model: "m", data: [] } });
    expect(await open().rerank(body)).toEqual({ object: "list", model: "m", data: [] });
  });

  test("a reset is a lost connection, before or after the operation ran", async () => {
    service.fail("scale", { reset: true });
    const lost = { code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" };
    expect(await failureOf(() => open().deployments.scale("prod", 5))).toMatchObject(lost);
    expect(service.deployments.size).toBe(0);
    service.fail("scale", { reset: true, executes: true });
    await failureOf(() => open().deployments.scale("prod", 5));
    expect(service.deployments.get("accounts/acme/deployments/prod")?.replicaCount).toBe(5);
  });

  test("a truncated body is a response that was lost: the operation ran", async () => {
    service.fail("resume", { truncate: true });
    const error = await failureOf(() => open().reinforcementFineTuningJobs.resume("job-1"));
    const cut = { code: "INTERNAL", executed: "yes", codeSource: "transport", httpStatus: 200 };
    expect(error).toMatchObject(cut);
    expect([...service.jobs.values()]).toMatchObject([{ state: "JOB_STATE_RUNNING" }]);
  });

  test("a stall ends only with its caller", async () => {
    service.fail("rerank", { stall: true });
    const stalled = failureOf(() => open().rerank(body, { timeoutMs: 80 }));
    await until(() => service.requests.length === 1);
    expect(await isPending(stalled)).toBe(true);
    clock.pass(80);
    const late = { code: "DEADLINE_EXCEEDED", executed: "unknown", codeSource: "client" };
    expect(await stalled).toMatchObject(late);
    service.fail("rerank", { stall: true });
    const controller = new AbortController();
    const left = failureOf(() => open().rerank(body, { signal: controller.signal }));
    await until(() => service.requests.length === 2);
    controller.abort();
    expect(await left).toMatchObject({ code: "CANCELLED" });
  });

  test("a delay makes the response late, and goes with a failure too", async () => {
    service.fail("scale", { delayMs: 60 });
    service.fail("scale", { code: "NOT_FOUND", delayMs: 60 });
    const first = open().deployments.scale("prod", 5);
    await clock.waitsFor(60);
    expect(await isPending(first)).toBe(true);
    clock.pass(60);
    await first;
    const second = failureOf(() => open().deployments.scale("prod", 6));
    await clock.passWhenWaiting(60);
    expect(await second).toMatchObject({ code: "NOT_FOUND" });
    expect([...service.deployments.values()]).toMatchObject([{ replicaCount: 5 }]);
  });

  test("a caller who leaves during a delay is not waited for", async () => {
    // The second is longer than a timer can hold.
    for (const delayMs of [60_000, 2 ** 31]) {
      service.fail("scale", { delayMs });
      const running = failureOf(() => open().deployments.scale("prod", 5, { timeoutMs: 50 }));
      await clock.waitsFor(Math.min(delayMs, 2 ** 31 - 1));
      clock.pass(50);
      expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    }
    expect([...service.deployments.values()]).toMatchObject([{ replicaCount: 5 }]);
  });

  test("concern one operation only, and end with reset", async () => {
    service.fail("upload", { code: "NOT_FOUND", times: Number.POSITIVE_INFINITY });
    const client = open();
    await client.rerank(body);
    for (let i = 0; i < 3; i++) {
      await failureOf(() => client.datasets.upload("d", new Uint8Array(1), { name: "f" }));
    }
    service.reset();
    await client.datasets.upload("d", new Uint8Array(1), { name: "f" });
  });
});

test("fetch fails as the platform's does", async () => {
  service.fail("rerank", { reset: true });
  service.fail("rerank", { truncate: true });
  const request = {
    method: "POST",
    headers: { authorization: "Bearer k", "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const url = "https://service.test/inference/v1/rerank";
  const lost = await service.fetch(url, request).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(TypeError);
  expect((lost as Error).cause).toMatchObject({ code: "ECONNRESET" });
  const response = await service.fetch(new Request(url, request));
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toBeInstanceOf(TypeError);
  const reason = new Error("mine");
  await expect(service.fetch(url, { ...request, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test("closing the server ends what stalls", async () => {
  const own = await service.listen();
  service.fail("rerank", { stall: true });
  const call = failureOf(() => connect(own.url).rerank(body));
  await expect.poll(() => service.requests.length).toBe(1);
  await own.close();
  expect(await call).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
});

describe.each(ways)("scripted responses through %s", (_name, open) => {
  test("a response is the test's until reset; what is refused or changed stays so", async () => {
    const mine = { object: "list", model: "m", data: [{ index: 0, relevance_score: 0.5 }] };
    service.answer("rerank", mine);
    service.answer("resumeReinforcementFineTuningJob", { name: "mine" });
    const client = open();
    expect([await client.rerank(body), await client.rerank(body)]).toEqual([mine, mine]);
    expect(await client.reinforcementFineTuningJobs.resume("job-1")).toEqual({ name: "mine" });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error.code).toBe("FAILED_PRECONDITION");
    service.reset();
    expect((await client.rerank(body)).model).toBe("accounts/stand-in/models/shared-words");
  });

  test("a scripted failure comes first", async () => {
    service.answer("scale", {});
    service.fail("scale", { code: "NOT_FOUND" });
    const client = open();
    expect((await failureOf(() => client.deployments.scale("prod", 5))).code).toBe("NOT_FOUND");
    await client.deployments.scale("prod", 5);
  });
});

const operations = idsWhere(() => true).map(nameOf);

test.each([
  ["rank", {}, new RegExp(`operation must be one of ${operations.join(", ")}, or an operation's id\\.`)],
  ["rerank", "text", /value must be an object/],
  ["rerank", [], /value must be an object/],
  ["rerank", undefined, /value must be an object/],
])("a response that means nothing is refused: %s, %j", (operation, value, message) => {
  expect(thrownBy(() => service.answer(operation as "rerank", value)).message).toMatch(message);
});

test.each<[failure: ScriptedFailure, message: RegExp]>([
  [{}, /needs status, code, reset, stall, truncate or delayMs/],
  [{ times: 2 }, /needs status/],
  [{ status: 503, reset: true }, /takes one of/],
  [{ stall: true, truncate: true }, /takes one of/],
  [{ status: 100 }, /status must be at least 200/],
  [{ status: 600 }, /status must be at most 599/],
  [{ code: "OK" as never }, /one of the service's 16/],
  [{ code: "toString" as never }, /one of the service's 16/],
  [{ code: "ABORTED", times: 0 }, /times must be at least 1/],
  [{ code: "ABORTED", retryAfter: -1 }, /retryAfter must be at least 0/],
  [{ reset: 1 as never }, /reset must be true or false/],
  [{ retryAfterMs: 1 } as never, /Unknown option failure.retryAfterMs/],
])("a script that means nothing is refused: %j", (failure, message) => {
  expect(thrownBy(() => service.fail("rerank", failure)).message).toMatch(message);
});

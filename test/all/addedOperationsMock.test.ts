import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { CallPromise, StatusError } from "../../src/index.js";
import type { TestRequest, TestServer, TestService } from "../../src/testing/index.js";
import { added, useAddedOperations } from "../support/addedOperations.js";
import { canaryKey } from "../support/canary.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

type Call = (...given: unknown[]) => CallPromise<unknown>;
type Added = Readonly<Record<"datasets" | "evaluators", Readonly<Record<string, Call>>>>;

const copy = useAddedOperations();
let service: TestService;
let server: TestServer;
let connect: (options: object) => Added;

beforeAll(async () => {
  const { createTestService } = await import(path.join(copy.folder, "src/testing/index.ts"));
  const { createClient } = await import(path.join(copy.folder, "src/index.ts"));
  const own = { apiKey: canaryKey, accountId: "acme", maxRetries: 0 };
  connect = (options) => createClient({ ...own, ...options });
  service = createTestService();
  server = await service.listen();
});
afterEach(() => service.reset());
afterAll(() => server.close());

const ways: [name: string, open: () => Added][] = [
  ["its fetch", () => connect({ baseUrl: "https://service.test", fetch: service.fetch })],
  ["its port", () => connect({ baseUrl: server.url })],
];
const lines = "line 1\nline 2\n";
const grader = { name: "accounts/acme/evaluators/grader", displayName: "Grader" };
const asText = (bytes: unknown): string => new TextDecoder().decode(bytes as Uint8Array);
const failureOf = (call: PromiseLike<unknown>): Promise<StatusError> =>
  Promise.resolve(call).then(
    () => expect.unreachable("It did not fail."),
    (error: StatusError) => error,
  );
const onlyRequest = (): TestRequest => {
  expect(service.requests).toHaveLength(1);
  return service.requests[0] as TestRequest;
};

describe.each(ways)("operations that nobody wrote, in the mock server through %s", (_name, open) => {
  test("each responds with the contract's example: JSON, nothing, bytes", async () => {
    const { datasets, evaluators } = open();
    expect(await datasets.get?.("reviews")).toEqual({ name: "accounts/acme/datasets/reviews", fileCount: 2 });
    expect(asText(await datasets.download?.("reviews"))).toBe(lines);
    expect(await evaluators.list?.({})).toEqual({ evaluators: [grader] });
    expect(await evaluators.create?.({ displayName: "Grader" })).toEqual(grader);
    expect(await evaluators.replace?.("grader", { displayName: "Grader" })).toEqual(grader);
    expect(await evaluators.delete?.("grader")).toBeUndefined();
    expect(await evaluators.start?.("grader")).toEqual(grader);
    expect(service.requests.map(({ operation }) => operation)).toEqual(added);
    const response = await evaluators.delete?.("grader").withResponse();
    expect(response?.attempts.map(({ httpStatus }) => httpStatus)).toEqual([204]);
  });

  test("what was asked for is kept: query, header and body", async () => {
    await open().evaluators.list?.({ label: ["a b", "c&d"], archived: true, "x-view": "basic" });
    const { path, query, headers, ...request } = onlyRequest();
    expect([path, query]).toEqual(["/v1/accounts/acme/evaluators", "label=a%20b&label=c%26d&archived=true"]);
    expect(headers["x-view"]).toBe("basic");
    expect(request).toEqual({ operation: "listEvaluators", method: "GET" });
  });

  test("failures are scripted by the id", async () => {
    service.fail("getDataset" as "rerank", { code: "UNAVAILABLE", retryAfter: 90 });
    service.fail("deleteEvaluator" as "rerank", { truncate: true });
    service.fail("downloadDataset" as "rerank", { truncate: true });
    const { datasets, evaluators } = open();
    const failed = await failureOf(datasets.get?.("reviews") as CallPromise<unknown>);
    expect(failed).toMatchObject({ code: "UNAVAILABLE", retryAfterMs: 90_000, executed: "unknown" });
    // Of a response without a body there is no half: it is lost whole.
    const deleted = await failureOf(evaluators.delete?.("grader") as CallPromise<unknown>);
    expect(deleted).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" });
    const cut = await failureOf(datasets.download?.("reviews") as CallPromise<unknown>);
    expect(cut).toMatchObject({ code: "INTERNAL", executed: "yes" });
    expect(asText(await datasets.download?.("reviews"))).toBe(lines);
  });

  test("a test's own responses: JSON, and bytes as they are", async () => {
    const bytes = new Uint8Array([0, 255, 10]);
    service.answer("getDataset" as "rerank", { name: "mine" });
    service.answer("downloadDataset" as "rerank", bytes);
    bytes.fill(1);
    const { datasets } = open();
    expect(await datasets.get?.("reviews")).toEqual({ name: "mine" });
    expect(await datasets.download?.("reviews")).toEqual(new Uint8Array([0, 255, 10]));
    service.answer("downloadDataset" as "rerank", "ä");
    expect(asText(await datasets.download?.("reviews"))).toBe("ä");
    service.reset();
    expect(asText(await datasets.download?.("reviews"))).toBe(lines);
  });
});

test("a response that an operation never gives is refused", () => {
  const respond = (operation: string, value: unknown) => () => service.answer(operation as "rerank", value);
  expect(respond("deleteEvaluator", {})).toThrow(/response of deleteEvaluator has no body/);
  expect(respond("downloadDataset", {})).toThrow(/value must be a string or a Uint8Array/);
  expect(respond("getDataset", "text")).toThrow(/value must be an object/);
  expect(respond("getData", {})).toThrow(/one of resume, rerank, scale, upload, getDataset, downloadDataset/);
});

const evaluators = "/v1/accounts/acme/evaluators";
test.each<[name: string, target: string, init: object, status: number, words: string]>([
  ["a path without its verb", "/v1/accounts/acme/datasets/a:b", {}, 200, "fileCount"],
  ["a number that is none", `${evaluators}?page_size=ten`, {}, 400, "page_size must be a whole number"],
  ["a number that is too small", `${evaluators}?page_size=0`, {}, 400, "page_size must be at least 1"],
  ["one of two", `${evaluators}?page_size=1&page_size=2`, {}, 400, "page_size must be a whole number"],
  ["neither true nor false", `${evaluators}?archived=yes`, {}, 400, "archived must be true or false"],
  ["a list of one", `${evaluators}?label=a&state=EVALUATOR_STATE_READY`, {}, 200, "Grader"],
  [
    "a value that is not listed",
    `${evaluators}?state=READY`,
    {},
    400,
    "must be one of EVALUATOR_STATE_READY",
  ],
  ["a body where there is none", `${evaluators}/a:start`, { method: "POST", body: "{}" }, 400, "no body"],
])("by the rows, %s", async (_name, target, init, status, words) => {
  const own = { ...init, headers: { authorization: "Bearer k" } };
  for (const send of [service.fetch, fetch]) {
    const response = await send(server.url + target, own);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)]);
  }
  expect(service.requests).toHaveLength(2);
});

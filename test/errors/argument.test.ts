import { describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { type Client, createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const bytes = new Uint8Array(1);
const documents = ["a"];

type Wrong = readonly [argument: string, call: (client: Client) => Promise<unknown>, item?: number];

const calls: readonly Wrong[] = [
  ["query", ({ rerank }) => rerank({ documents } as never)],
  ["documents", ({ rerank }) => rerank({ query: "q", documents: [] })],
  ["documents[1]", ({ rerank }) => rerank({ query: "q", documents: ["a", 2 as never] })],
  ["documents[0]", ({ rerank }) => rerank({ query: "q", documents: [{} as never] })],
  ["top_n", ({ rerank }) => rerank({ query: "q", documents, top_n: 0 })],
  ["topN", ({ rerank }) => rerank({ query: "q", documents, topN: 1 } as never)],
  ["timeoutMs", ({ rerank }) => rerank({ query: "q", documents }, { timeoutMs: 0 })],
  ["timeout", ({ rerank }) => rerank({ query: "q", documents }, { timeout: 1 } as never)],
  ["signal", ({ rerank }) => rerank({ query: "q", documents }, { signal: {} as never })],
  ['headers["host"]', ({ rerank }) => rerank({ query: "q", documents }, { headers: { Host: "h" } })],
  ["options", ({ rerank }) => rerank({ query: "q", documents }, 1 as never)],
  ["text", ({ rerank }) => rerank.items("q", [1], {} as never)],
  ["text", ({ rerank }) => rerank.items("q", [1, 2], { text: (item) => (item === 2 ? fail() : "a") }), 1],
  ["split", ({ rerank }) => rerank.items("q", [1], { text: String, split: () => [] }), 0],
  ["topN", ({ rerank }) => rerank.items("q", [1], { text: String, topN: 0 })],
  ["concurrency.max", ({ rerank }) => rerank.items("q", [1], { text: String, concurrency: { max: 0 } })],
  [
    "items[1]",
    ({ rerank }) => rerank.items("q", [1, "1".repeat(99)], { text: String, maxBatchBytes: 90 }),
    1,
  ],
  ["deploymentId", ({ deployments }) => deployments.scale("a/b", 1)],
  ["deploymentId", ({ deployments }) => deployments.scale({} as never, 1)],
  ["replicaCount", ({ deployments }) => deployments.scale("prod", -1)],
  ["jobId", ({ reinforcementFineTuningJobs: jobs }) => jobs.resume("..")],
  ["accountId", ({ reinforcementFineTuningJobs: jobs }) => jobs.resume("j", { accountId: "" })],
  ["datasetId", ({ datasets }) => datasets.upload("", bytes, { name: "f" })],
  ["file", ({ datasets }) => datasets.upload("d", "no-such-file.jsonl")],
  ["file", ({ datasets }) => datasets.upload("d", 1 as never)],
  ["name", ({ datasets }) => datasets.upload("d", bytes)],
  ["size", ({ datasets }) => datasets.upload("d", bytes, { name: "f", size: 2 })],
  ["contentType", ({ datasets }) => datasets.upload("d", bytes, { name: "f", contentType: "x" })],
  ["method", ({ request }) => request({ method: "get" as never, path: "/v1" })],
  ["path", ({ request }) => request({ method: "GET", path: "/a//b" })],
  ["query.q", ({ request }) => request({ method: "GET", path: "/a", query: { q: {} as never } })],
  ["body", ({ request }) => request({ method: "POST", path: "/a", body: new Map() })],
];

function fail(): never {
  throw new Error("no text");
}

describe("a call with a wrong argument", () => {
  test.each(calls.map(([argument, call, item]) => ({ argument, call, item })))(
    "names $argument in `argument`",
    async ({ argument, call, item }) => {
      const error = await failureOf(() => call(connect(server.url)));
      expect(error).toMatchObject({ argument, executed: "no", attempts: [] });
      expect(error.item).toBe(item);
      expect(error.toJSON()).toMatchObject({ argument });
      expect(server.requests).toEqual([]);
    },
  );
});

const apiKey = canaryKey;
const baseUrl = "https://api.example.com";

describe("a function with a wrong option", () => {
  test.each<readonly [argument: string, act: () => unknown]>([
    ["baseUrl", () => createClient({ baseUrl: "http://api.example.com", apiKey })],
    ["apiKey", () => createClient({ baseUrl, apiKey: "" })],
    ["maxConnections", () => createClient({ baseUrl, apiKey, maxConnections: 0 })],
    ["proxy", () => createClient({ baseUrl, apiKey, proxy: "proxy:1" })],
    ["logger", () => createClient({ baseUrl, apiKey, logger: {} as never })],
    ["fetch", () => createClient({ baseUrl, apiKey, agent: {}, fetch: (() => {}) as never })],
    ["maxConnections", () => createClient({ baseUrl, apiKey }).withOptions({ maxConnections: 1 } as never)],
    ["rate.requestsPerMinute", () => rerankAll(connect(baseUrl), [], { rate: { requestsPerMinute: 0 } })],
    ["rate.perMinute", () => rerankAll(connect(baseUrl), [], { rate: { perMinute: 0 } as never })],
    ["maxPauseMs", () => rerankAll(connect(baseUrl), [], { maxPauseMs: -1 })],
    ["requests", () => rerankAll(connect(baseUrl), 1 as never)],
  ])("names %s in `argument`", (argument, act) => {
    expect(thrownBy(act)).toMatchObject({ argument });
  });
});

test("a missing setting is named by its option", async () => {
  expect(
    await failureOf(() => createClient({ baseUrl }).request({ method: "GET", path: "/a" })),
  ).toMatchObject({
    argument: "apiKey",
  });
});

test("an error of the service has no `argument`", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "documents[0] is empty." } });
  const error = await failureOf(() => connect(server.url).rerank({ query: "q", documents }));
  expect(Object.hasOwn(error, "argument")).toBe(false);
});

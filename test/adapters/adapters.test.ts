import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { createRerankingModel } from "../../src/adapters/aiSdk.js";
import { createDocumentCompressor } from "../../src/adapters/langchain.js";
import { mayRetry, retryVerdict } from "../../src/adapters/queues.js";
import { createClient, isStatusError } from "../../src/index.js";
import { createTestService, type ScriptedFailure, type TestOperation } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { ranked, silence, unavailable } from "../support/responses.js";

const server = useRecordingServer();

describe("the calls", () => {
  const documents = { type: "text", values: ["a", "b", "c"] } as const;
  const texts = ["a", "b", "c"].map((pageContent) => ({ pageContent, metadata: {} }));

  const thrownBy = (call: Promise<unknown>): Promise<Record<string | symbol, unknown> & Error> =>
    call.then(
      () => expect.unreachable("It did not fail."),
      (error) => error,
    );

  test.each<[what: string, reply: Reply, isRetryable: boolean, ms: number | undefined]>([
    ["UNAVAILABLE", { ...unavailable, headers: { "retry-after": "2" } }, true, 2_000],
    ["a 429", { status: 429, headers: { "retry-after": "59.999" } }, true, 59_999],
    // The AI SDK would wait for two seconds instead.
    ["a long wait", { status: 429, headers: { "retry-after": "60" } }, false, 60_000],
    ["a refusal", { status: 400, json: { code: "INVALID_ARGUMENT" } }, false, undefined],
  ])(
    "the AI SDK's model asks once, and says of %s whether asking again may help",
    async (_, reply, isRetryable, ms) => {
      server.reply(reply);
      const model = createRerankingModel(connect(server.url, { maxRetries: 2 }), "m");
      const error = await thrownBy(model.doRerank({ query: "q", documents }));
      expect(server.requests).toHaveLength(1);
      expect(isStatusError(error)).toBe(true);
      expect(error).toMatchObject({ isRetryable, statusCode: reply.status });
      expect(error.retryAfterMs).toBe(ms);
      if (ms) expect(error.responseHeaders).toMatchObject({ "retry-after-ms": `${ms}` });
      expect(error[Symbol.for("vercel.ai.error.AI_APICallError")]).toBe(true);
      expect(JSON.stringify(error)).not.toContain("isRetryable");
    },
  );

  test.each([
    ["AbortError", undefined],
    ["TimeoutError", new DOMException("late", "TimeoutError")],
  ])("an abort of the AI SDK's signal is an %s, with the StatusError as cause", async (name, reason) => {
    server.reply(silence);
    const controller = new AbortController();
    const model = createRerankingModel(connect(server.url), "m");
    const failed = thrownBy(model.doRerank({ query: "q", documents, abortSignal: controller.signal }));
    await server.received();
    controller.abort(reason);
    const error = await failed;
    expect(error.name).toBe(name);
    expect(isStatusError(error.cause, "CANCELLED")).toBe(true);
  });

  test("LangChain's compressor takes the options of a call", async () => {
    server.reply(unavailable);
    const options = { maxRetries: 0, timeoutMs: 5000 };
    const compressor = createDocumentCompressor(connect(server.url, { maxRetries: 2 }), options);
    await failureOf(() => compressor.compressDocuments(texts, "q"));
    expect(server.requests).toHaveLength(1);
  });

  // Where LangChain keeps it.
  const storage = new AsyncLocalStorage<object>();
  const storageKey = Symbol.for("ls:tracing_async_local_storage");
  const runIn = <T>(config: object, run: () => T): T =>
    storage.run({ extra: { [Symbol.for("lc:child_config")]: config } }, run);

  test.each(["options", "configuration", "chain"])(
    "the signal of LangChain's %s ends the call, and one that is aborted already sends nothing",
    async (of) => {
      server.reply(silence);
      const controller = new AbortController();
      const { signal } = controller;
      const idle = new AbortController().signal;
      const client = connect(server.url);
      Object.assign(globalThis, { [storageKey]: storage });
      try {
        const compressor = createDocumentCompressor(client, { signal: of === "options" ? signal : idle });
        const config = of === "configuration" ? { signal } : undefined;
        const run = () => compressor.compressDocuments(texts, "q", config);
        const failed = failureOf(() => runIn(of === "chain" ? { signal } : {}, run));
        await server.received();
        controller.abort();
        expect((await failed).code).toBe("CANCELLED");
        expect((await failureOf(() => runIn(of === "chain" ? { signal } : {}, run))).code).toBe("CANCELLED");
        expect(server.requests).toHaveLength(1);
      } finally {
        Reflect.deleteProperty(globalThis, storageKey);
      }
    },
  );

  test("the options of batches reach both adapters", async () => {
    server.reply((request) => ranked(request));
    const client = connect(server.url);
    const told: number[] = [];
    const batches = {
      batchSize: 2,
      concurrency: 1,
      maxBatchBytes: 1000,
      split: (text: string) => [text, `${text}!`],
      onBatch: ({ count }: { count: number }) => void told.push(count),
    };
    await createRerankingModel(client, "m", batches).doRerank({ query: "q", documents });
    await createDocumentCompressor(client, batches).compressDocuments(texts, "q");
    expect(told).toEqual([1, 1, 1, 1, 1, 1]);
    expect(server.requests.map(({ body }) => JSON.parse(`${body}`).documents.length)).toEqual(
      Array(6).fill(2),
    );
    const continueFrom = { data: [], missing: [], fingerprint: "another" } as never;
    for (const continued of [
      createRerankingModel(client, "m", { continueFrom }).doRerank({ query: "q", documents }),
      createDocumentCompressor(client, { continueFrom }).compressDocuments(texts, "q"),
    ])
      await expect(continued).rejects.toThrow("continueFrom is from another call");
  });
});

test("the retriever's documents, which it may keep, stay as they are", async () => {
  server.reply((request) => ranked(request));
  const documents = [{ pageContent: "d", metadata: { source: "a" } }];
  const [best] = await createDocumentCompressor(connect(server.url)).compressDocuments(documents, "q");
  expect(best).toEqual({ pageContent: "d", metadata: { source: "a", relevanceScore: 1 } });
  expect(documents).toEqual([{ pageContent: "d", metadata: { source: "a" } }]);
});

const failures: readonly [string, TestOperation, ScriptedFailure | "no ranking", object][] = [
  ["a lost resume", "resume", { reset: true }, { retry: false, reason: "not-safe" }],
  [
    "a 429 with a time",
    "resume",
    { status: 429, retryAfter: 7 },
    { retry: true, afterMs: 7000, reason: "transient" },
  ],
  ["UNAVAILABLE, named", "resume", { code: "UNAVAILABLE" }, { retry: true, reason: "transient" }],
  ["a bad argument", "rerank", { code: "INVALID_ARGUMENT" }, { retry: false, reason: "refused" }],
  ["a paid response", "rerank", "no ranking", { retry: true, reason: "transient" }],
  ["a revoked key", "rerank", { status: 401 }, { retry: false, reason: "key" }],
];

test.each(failures)("%s has one verdict", async (_, operation, failure, expected) => {
  const service = createTestService();
  const client = createClient({
    ...{ baseUrl: "https://api.example.com", apiKey: canaryKey, accountId: "acme", maxRetries: 0 },
    fetch: service.fetch,
  });
  if (failure === "no ranking") service.answer("rerank", {} as never);
  else service.fail(operation, failure);
  const error = await failureOf(() =>
    operation === "resume"
      ? client.reinforcementFineTuningJobs.resume("job-1")
      : client.rerank({ query: "q", documents: ["d"] }),
  );
  expect(retryVerdict(error)).toEqual({ afterMs: undefined, ...expected });
  expect(mayRetry(error)).toBe(retryVerdict(error).retry);
  const later = retryVerdict(error, 2);
  // What ran is paid for each time: it is retried once.
  if (error.executed === "yes") expect(later).toEqual({ retry: false, afterMs: undefined, reason: "paid" });
  else expect(later).toEqual(retryVerdict(error));
});

test("an error of somebody else has no retry", () => {
  for (const error of [new Error("x"), undefined, "x", { code: "UNAVAILABLE" }])
    expect(retryVerdict(error)).toEqual({ retry: false, afterMs: undefined, reason: "unknown-error" });
});

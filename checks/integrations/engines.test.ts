// The snippets of the guide for job engines, with the engines' own errors; and the recipes for agents' frameworks.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { FakeEmbeddings, FakeListChatModel } from "@langchain/core/utils/testing";
import { RetryableError as RestateRetry, TerminalError } from "@restatedev/restate-sdk";
import { AbortTaskRunError } from "@trigger.dev/sdk";
import { UnrecoverableError } from "bullmq";
import { NonRetriableError, RetryAfterError } from "inngest";
import { createAgent } from "langchain";
import type { JobWithMetadata } from "pg-boss";
import type { StatusError } from "tunerank";
import { FatalError, RetryableError } from "workflow";
import { failed as bullmq } from "./documented/bullmqFailed.ts";
import { step } from "./documented/dbos.ts";
import { failed as inngest } from "./documented/inngest.ts";
import { failed as pgBoss } from "./documented/pgBoss.ts";
import { failed as restate } from "./documented/restate.ts";
import { failed as triggerDev } from "./documented/triggerDev.ts";
import { failed as workflow } from "./documented/workflow.ts";
import { connect, server, service } from "./support/service.ts";

/** What an engine does with an error: again, not again, or not before some milliseconds have passed. */
type Outcome = "again" | "never" | number;
type Engine = (error: StatusError, attempt: number) => Outcome | Promise<Outcome>;

const engines: Record<string, Engine> = {
  BullMQ: (error, attempt) => (bullmq(error, attempt) instanceof UnrecoverableError ? "never" : "again"),
  Inngest: (error, attempt) => {
    const thrown = inngest(error, attempt);
    if (thrown instanceof NonRetriableError) return "never";
    return thrown instanceof RetryAfterError ? Number(thrown.retryAfter) * 1000 : "again";
  },
  "Trigger.dev": (error, attempt) =>
    triggerDev(error, attempt) instanceof AbortTaskRunError ? "never" : "again",
  Restate: (error, attempt) => {
    const thrown = restate(error, attempt);
    if (thrown instanceof TerminalError) return "never";
    assert.ok(thrown instanceof RestateRetry);
    return typeof thrown.retryAfter === "number" ? thrown.retryAfter : "again";
  },
  DBOS: async (error) => ((await step.shouldRetry?.(error)) ? "again" : "never"),
  "Vercel Workflow": (error, attempt) => {
    const thrown = workflow(error, attempt);
    if (FatalError.is(thrown)) return "never";
    if (!RetryableError.is(thrown)) return "again";
    return Math.round((thrown.retryAfter.getTime() - Date.now()) / 1000) * 1000;
  },
  "pg-boss": async (error, attempt) => {
    const cancelled: unknown[] = [];
    const boss = { cancel: async (...given: unknown[]) => void cancelled.push(given) };
    const job = { name: "rankings", id: "1", retryCount: attempt - 1 } as JobWithMetadata;
    await assert.rejects(pgBoss(boss as never, job, error), error);
    return cancelled.length > 0 ? "never" : "again";
  },
};

const failures = [
  "a lost resume",
  "429 with a time",
  "503 named",
  "a bad argument",
  "a paid response",
  "a revoked key",
];
const wait: Outcome = 7000;
const byAttempt: Record<1 | 2, readonly Outcome[]> = {
  1: ["never", wait, "again", "never", "again", "never"],
  2: ["never", wait, "again", "never", "never", "never"],
};
// Engines that take no time from an error wait by their own backoff; DBOS does not tell the attempt.
const withoutTime = new Set(["BullMQ", "Trigger.dev", "DBOS", "pg-boss"]);

describe("each snippet, six failures:", () => {
  let errors: readonly StatusError[];
  before(async () => {
    const client = connect({ maxRetries: 0 });
    const caught = (call: PromiseLike<unknown>): Promise<StatusError> =>
      Promise.resolve(call).then(
        () => assert.fail("it did not fail"),
        (error: StatusError) => error,
      );
    const resume = () => caught(client.reinforcementFineTuningJobs.resume("job-1"));
    const rerank = () => caught(client.rerank({ query: "q", documents: ["d"] }));
    const found: StatusError[] = [];
    service.fail("resume", { reset: true });
    found.push(await resume());
    service.fail("resume", { status: 429, retryAfter: 7 });
    found.push(await resume());
    service.fail("resume", { code: "UNAVAILABLE" });
    found.push(await resume());
    service.fail("rerank", { code: "INVALID_ARGUMENT" });
    found.push(await rerank());
    service.answer("rerank", {} as never);
    found.push(await rerank());
    service.fail("rerank", { status: 401 });
    found.push(await rerank());
    errors = found;
  });

  for (const [name, engine] of Object.entries(engines))
    for (const attempt of [1, 2] as const)
      test(`${name}, attempt ${attempt}`, async () => {
        const outcomes: Record<string, Outcome> = {};
        for (const [index, error] of errors.entries())
          outcomes[failures[index] ?? ""] = await engine(error, attempt);
        const row = name === "DBOS" ? byAttempt[1] : byAttempt[attempt];
        const expected = row.map((each) => (each === wait && withoutTime.has(name) ? "again" : each));
        assert.deepEqual(Object.values(outcomes), expected);
      });
});

// They read the environment when they are loaded.
Object.assign(process.env, { TUNERANK_BASE_URL: server.url, TUNERANK_API_KEY: "test-key" });
const texts = ["Rome is in Italy.", "Paris is the capital of France.", "A capital."];

test("Mastra's results are ranked with one request", async () => {
  const { rerank } = await import("./documented/mastra.ts");
  const results = texts.map((text, n) => ({ id: `${n}`, score: 0.5, metadata: { text } }));
  const ranked = await rerank(results, "capital of France", 2);
  assert.deepEqual(
    ranked.map(({ result, details }) => [result.id, details.position, details.vector]),
    [
      ["1", 1, 0.5],
      ["2", 2, 0.5],
    ],
  );
  assert.equal(service.requests.length, 1);
});

test("LangChain's tool gives an agent the best of what a retriever finds", async () => {
  const { searchTool } = await import("./documented/langchainTool.ts");
  const store = await MemoryVectorStore.fromTexts(texts, [], new FakeEmbeddings());
  const search = searchTool(store.asRetriever(3));
  assert.ok(createAgent({ model: new FakeListChatModel({ responses: [] }), tools: [search] }));
  const { invoke } = search as unknown as { invoke(input: object): Promise<string> };
  const found = await invoke.call(search, { query: "capital of France" });
  assert.match(found, /^Paris is the capital of France\.\n\nA capital\./);
  assert.equal(service.requests.length, 1);
});

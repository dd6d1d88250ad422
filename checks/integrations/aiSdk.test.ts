import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { isAbortError } from "@ai-sdk/provider-utils";
import {
  createProviderRegistry,
  customProvider,
  NoSuchModelError,
  type RerankingModel,
  RetryError,
  rerank as rerank7,
  type Warning,
} from "ai";
import {
  createProviderRegistry as createProviderRegistry6,
  type RerankingModel as RerankingModelOf6,
  rerank as rerank6,
} from "ai-6";
import { type Client, isStatusError, type StatusError } from "tunerank";
import { createRerankingModel, createTunerank } from "tunerank/ai-sdk";
import { connect, firstBody, service } from "./support/service.ts";

const modelId = "accounts/acme/models/reranker-small";
const query = "capital of France";
const texts = ["Rome is in Italy.", "Paris is the capital of France.", "A capital."];
const onePath = ["/inference/v1/rerank"];

interface Options<Value> {
  documents: Value[];
  query: string;
  topN?: number;
  maxRetries?: number;
  abortSignal?: AbortSignal;
  headers?: Record<string, string>;
  providerOptions?: { tunerank: { task: string } };
}
type Value = string | { [name: string]: string | number };

// Without a cast: each takes the model as it is.
const versions = {
  "AI SDK 7": <T extends Value>(client: Client, options: Options<T>) =>
    rerank7({ model: createRerankingModel(client, modelId), ...options }),
  "AI SDK 6": <T extends Value>(client: Client, options: Options<T>) =>
    rerank6({ model: createRerankingModel(client, modelId), ...options }),
  'AI SDK 7 with its own "v4"': <T extends Value>(client: Client, options: Options<T>) =>
    rerank7({ model: createRerankingModel(client, modelId, { specificationVersion: "v4" }), ...options }),
};

let warnings: Warning[] = [];
globalThis.AI_SDK_LOG_WARNINGS = (told: { warnings: Warning[] }) => void warnings.push(...told.warnings);
beforeEach(() => {
  warnings = [];
});

for (const [version, rerank] of Object.entries(versions)) {
  describe(version, () => {
    test("ranks texts", async () => {
      const result = await rerank(connect(), { documents: texts, query, topN: 2 });
      assert.deepEqual(
        result.ranking.map(({ originalIndex, document }) => [originalIndex, document]),
        [
          [1, texts[1]],
          [2, texts[2]],
        ],
      );
      assert.deepEqual(result.rerankedDocuments, [texts[1], texts[2]]);
      assert.equal(result.response.id, "req-1");
      assert.equal(result.response.modelId, modelId);
      assert.ok(result.response.timestamp instanceof Date);
      assert.equal(result.response.headers?.["x-request-id"], "req-1");
      const ranked = result.ranking.map(({ originalIndex: index, score }) => ({
        index,
        relevance_score: score,
      }));
      assert.deepEqual((result.response.body as { data: unknown }).data, ranked);
      const usage = { prompt_tokens: 21, total_tokens: 21 };
      assert.deepEqual(result.providerMetadata, { tunerank: { usage } });
      const body = { query, documents: texts, model: modelId, return_documents: false };
      assert.deepEqual(firstBody(), body);
      assert.deepEqual(warnings, []);
      const { data } = await connect().rerank({ documents: texts, query, top_n: 2 });
      assert.deepEqual(
        result.ranking.map(({ score }) => score),
        data.map(({ relevance_score }) => relevance_score),
      );
    });

    test("ranks objects by their JSON, hands them back and warns of it", async () => {
      const documents = texts.map((text, id) => ({ id, text }));
      const { rerankedDocuments } = await rerank(connect(), { documents, query, topN: 1 });
      assert.deepEqual(rerankedDocuments, [documents[1]]);
      assert.deepEqual(
        firstBody().documents,
        documents.map((document) => JSON.stringify(document)),
      );
      assert.deepEqual(
        warnings.map(({ type }) => type),
        ["compatibility"],
      );
    });

    test("sends headers and the task of providerOptions", async () => {
      const providerOptions = { tunerank: { task: "Find the city." } };
      await rerank(connect(), { documents: texts, query, headers: { "x-tenant": "blue" }, providerOptions });
      const [request] = service.requests;
      assert.equal(request?.headers["x-tenant"], "blue");
      assert.equal(request?.headers.authorization, "Bearer test-key");
      assert.equal(firstBody().task, "Find the city.");
    });

    test("asks for nothing when there are no documents", async () => {
      const { ranking } = await rerank(connect(), { documents: [], query });
      assert.deepEqual(ranking, []);
      assert.deepEqual(service.requests, []);
    });

    for (const [maxRetries, requests] of [
      [0, 1],
      [1, 2],
      [undefined, 3],
    ] as const) {
      test(`makes ${requests} requests when maxRetries is ${maxRetries}, and fails with the last error`, async () => {
        service.fail("rerank", { code: "UNAVAILABLE", times: Number.POSITIVE_INFINITY, retryAfter: 0 });
        const options = { documents: texts, query, ...(maxRetries !== undefined && { maxRetries }) };
        const error = await failureOf(rerank(connect(), options));
        assert.equal(error.code, "UNAVAILABLE");
        assert.equal(service.requests.length, requests);
      });
    }

    test("repeats no refusal", async () => {
      service.fail("rerank", { code: "INVALID_ARGUMENT" });
      const error = await failureOf(rerank(connect(), { documents: texts, query }));
      assert.equal(error.code, "INVALID_ARGUMENT");
      assert.equal(service.requests.length, 1);
    });

    test("ends when its signal aborts", async (t) => {
      service.fail("rerank", { stall: true });
      const controller = new AbortController();
      const options = { documents: texts, query, abortSignal: controller.signal };
      const failed = rerank(connect(), options).catch((error: unknown) => error);
      await t.waitFor(() => assert.equal(service.requests.length, 1));
      controller.abort();
      const error = await failed;
      assert.ok(isAbortError(error), String(error));
      assert.ok(isStatusError(error.cause, "CANCELLED"));
      assert.deepEqual(
        service.requests.map(({ path }) => path),
        onePath,
      );
    });
  });
}

test("the model is of the type of both, and AI SDK 6 refuses the newer one", async () => {
  const model: RerankingModel = createRerankingModel(connect(), modelId);
  const older: RerankingModelOf6 = createRerankingModel(connect(), modelId);
  assert.equal(createRerankingModel(connect(), modelId).specificationVersion, "v3");
  // @ts-expect-error AI SDK 6 knows no "v4".
  const wrong: RerankingModelOf6 = createRerankingModel(connect(), modelId, { specificationVersion: "v4" });
  await assert.rejects(rerank6({ model: wrong, documents: texts, query }), /[Uu]nsupported model version/);
  const provider = customProvider({ rerankingModels: { small: model, older } });
  const { ranking } = await rerank7({ model: provider.rerankingModel("small"), documents: texts, query });
  assert.equal(ranking[0]?.originalIndex, 1);
});

async function failureOf(call: Promise<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => assert.fail("It did not fail."),
    (thrown: unknown) => thrown,
  );
  const last = RetryError.isInstance(error) ? error.lastError : error;
  assert.ok(isStatusError(last), String(error));
  return last;
}

test("a registry of the AI SDK finds the models of the provider, and says what it has none of", async () => {
  const options = { query, documents: texts, topN: 1 };
  const id = `tunerank:${modelId}` as const;
  const v3 = createTunerank(connect());
  const v4 = createTunerank(connect(), { specificationVersion: "v4" });
  const registries = [
    rerank7({ model: createProviderRegistry({ tunerank: v3 }).rerankingModel(id), ...options }),
    rerank7({ model: createProviderRegistry({ tunerank: v4 }).rerankingModel(id), ...options }),
    rerank6({ model: createProviderRegistry6({ tunerank: v3 }).rerankingModel(id), ...options }),
  ];
  for (const { rerankedDocuments } of await Promise.all(registries))
    assert.deepEqual(rerankedDocuments, [texts[1]]);
  for (const registry of [
    createProviderRegistry({ tunerank: v4 }),
    createProviderRegistry({ tunerank: v3 }),
  ]) {
    assert.throws(() => registry.languageModel("tunerank:gpt"), NoSuchModelError.isInstance);
    assert.throws(() => registry.embeddingModel("tunerank:gpt"), NoSuchModelError.isInstance);
  }
});

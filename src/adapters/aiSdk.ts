/**
 * Reranking models for the AI SDK.
 *
 * @module tunerank/ai-sdk
 */
import type { Client } from "../client.js";
import { isStatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import type { RerankItemsOptions, RerankItemsResponse } from "../ranking/types.js";
import { define, memberOf } from "../values.js";
import { type BatchOption, batchNames } from "./rerankOptions.js";

/** The options that the AI SDK passes to a reranking model. */
export interface RerankingCall {
  /** The documents to rank: all strings, or all objects. */
  documents:
    | { readonly type: "text"; readonly values: readonly string[] }
    | { readonly type: "object"; readonly values: readonly object[] };
  /** The query that the documents are ranked for. */
  query: string;
  /** How many of the best documents to keep. @default all */
  topN?: number | undefined;
  /** A signal that cancels the call when it aborts. */
  abortSignal?: AbortSignalLike | undefined;
  /** Headers added to the request. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Options by provider. This provider reads `tunerank.task`, a description that guides the ranking. */
  providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** The result that a reranking model returns to the AI SDK. */
export interface RerankingAnswer {
  /** The ranked documents, best first: each one's position in `documents`, and the service's score. */
  ranking: { index: number; relevanceScore: number }[];
  /**
   * The response's request id, if it has one, the model that ranked, the time, the headers of the last response, and the
   * ranking with its model and usage as the service names them, put together from all batches.
   */
  response: {
    id?: string;
    modelId?: string;
    timestamp: Date;
    headers?: Record<string, string>;
    body: { model?: string; data: { index: number; relevance_score: number }[]; usage: object };
  };
  /** The tokens used, as the service counts them. */
  providerMetadata: { tunerank: { usage: Record<string, number> } };
  /** One warning if the documents are objects: they are ranked by their JSON. Empty for strings. */
  warnings: { type: "compatibility"; feature: string; details: string }[];
}

/** A reranking model of the AI SDK's provider interface. */
export interface RerankingModel<Version extends "v3" | "v4"> {
  /** The version of the provider interface that this model implements. */
  readonly specificationVersion: Version;
  /** The provider name that the AI SDK's telemetry shows. */
  readonly provider: "tunerank";
  /** The name of the reranker model. */
  readonly modelId: string;
  /**
   * Ranks documents. The AI SDK calls this method.
   *
   * @param options The query, the documents and how many of them to keep.
   * @throws StatusError as the client's own call does.
   */
  doRerank(options: RerankingCall): Promise<RerankingAnswer>;
}

/** Options of {@link createRerankingModel}. */
export interface RerankingModelOptions<Version extends "v3" | "v4">
  extends Pick<RerankItemsOptions<string | object>, BatchOption> {
  /** The version of the provider interface: `"v3"` for AI SDK 6 and 7, or `"v4"` for AI SDK 7 only. @default "v3" */
  specificationVersion?: Version | undefined;
}

const names: OptionTable<RerankingModelOptions<"v3">> = { specificationVersion: 1, ...batchNames };

/**
 * Creates a reranking model for the `rerank` function of the AI SDK (the package `ai`), which calls a client of this
 * package. The AI SDK makes the retries (its `maxRetries`), not the client. It retries only what the client would
 * retry. Documents that are objects are ranked by their JSON, with a warning. `providerOptions.tunerank.task` is the
 * request's `task`.
 *
 * @param client The client that makes the calls.
 * @param modelId The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.
 * @param options The options for batches, and the version of the provider interface.
 * @throws StatusError from `rerank`, as the client's own call does; after retries it is the `lastError` of the AI SDK's
 * RetryError. An aborted call throws an AbortError (a TimeoutError if a timeout aborted it) whose `cause` is the
 * StatusError.
 * @example
 * const model = createRerankingModel(client, "accounts/acme/models/reranker-small");
 * const { rerankedDocuments } = await rerank({ model, query, documents, topN: 3 });
 */
export function createRerankingModel<Version extends "v3" | "v4" = "v3">(
  client: Pick<Client, "rerank">,
  modelId: string,
  options: RerankingModelOptions<Version> = {},
  // The return type works as `NoInfer`, which TypeScript has only since 5.4: `Version` is inferred from `options`,
  // never from the function that the model is passed to.
): RerankingModel<[Version][Version extends unknown ? 0 : never]> {
  const { specificationVersion, ...batches } = ownProperties(options, "options", names);
  return {
    specificationVersion: (specificationVersion ?? "v3") as Version,
    provider: "tunerank",
    modelId,
    doRerank: (call) => rank(client, modelId, call, batches).catch((error) => fail(error, call.abortSignal)),
  };
}

/** A provider of the AI SDK, for `createProviderRegistry`. It has reranking models alone. */
export interface TunerankProvider<Version extends "v3" | "v4"> {
  /** The version of the provider interface that this provider and its models implement. */
  readonly specificationVersion: Version;
  /**
   * Returns a reranking model.
   *
   * @param modelId The name of the reranker model.
   */
  rerankingModel(modelId: string): RerankingModel<Version>;
  /** Throws the AI SDK's NoSuchModelError: the service has no such models. @param modelId Any name. */
  languageModel(modelId: string): never;
  /** Throws the AI SDK's NoSuchModelError: the service has no such models. @param modelId Any name. */
  embeddingModel(modelId: string): never;
  /** Throws the AI SDK's NoSuchModelError: the service has no such models. @param modelId Any name. */
  imageModel(modelId: string): never;
}

/**
 * Creates a provider for `createProviderRegistry` of the AI SDK.
 *
 * @param client The client that makes the calls.
 * @param options Those of {@link createRerankingModel}, for every model.
 * @example
 * const registry = createProviderRegistry({ tunerank: createTunerank(client) });
 * const model = registry.rerankingModel("tunerank:accounts/acme/models/reranker-small");
 */
export function createTunerank<Version extends "v3" | "v4" = "v3">(
  client: Pick<Client, "rerank">,
  options: RerankingModelOptions<Version> = {},
): TunerankProvider<[Version][Version extends unknown ? 0 : never]> {
  const { specificationVersion } = createRerankingModel(client, "", options);
  const noModel = (modelType: string) => (modelId: string) => {
    const described = { name: "AI_NoSuchModelError", modelId, modelType, ...marked("NoSuchModelError") };
    throw Object.assign(new Error(`No such ${modelType}: ${modelId}`), described);
  };
  return {
    specificationVersion,
    rerankingModel: (modelId) => createRerankingModel(client, modelId, options),
    languageModel: noModel("languageModel"),
    embeddingModel: noModel("embeddingModel"),
    imageModel: noModel("imageModel"),
  };
}

async function rank(
  client: Pick<Client, "rerank">,
  model: string,
  call: RerankingCall,
  batches: Pick<RerankItemsOptions<string | object>, BatchOption>,
): Promise<RerankingAnswer> {
  // Copy only the call's own properties: a polluted prototype must not add an option.
  const own: RerankingCall = Object.assign(Object.create(null), call);
  const { documents, query, topN, abortSignal, headers, providerOptions } = own;
  const ofProvider = memberOf(providerOptions, "tunerank") as { task?: string } | undefined;
  const { task } = ownProperties(ofProvider, "providerOptions.tunerank", { task: 1 });
  const isText = documents.type === "text";
  const ranking = client.rerank.items<string | object>(query, documents.values, {
    ...batches,
    text: (document) => (typeof document === "string" ? document : JSON.stringify(document)),
    model,
    topN,
    // The client's call rejects a task that is not a string.
    task,
    signal: abortSignal,
    headers,
    maxRetries: 0,
  });
  return modelResult(await ranking.withResponse(), isText);
}

function modelResult(
  { data, model, usage, requestIds: [id], attempts }: RerankItemsResponse<string | object>,
  isText: boolean,
): RerankingAnswer {
  const headers = attempts.at(-1)?.headers;
  const details = "The service ranks text: each object is sent as its JSON.";
  return {
    ranking: data.map(({ index, score }) => ({ index, relevanceScore: score })),
    response: {
      timestamp: new Date(),
      ...(id && { id }),
      ...(model && { modelId: model }),
      ...(headers && { headers: { ...headers } }),
      body: {
        ...(model && { model }),
        data: data.map(({ index, score }) => ({ index, relevance_score: score })),
        usage: { ...usage },
      },
    },
    providerMetadata: { tunerank: { usage: { ...usage } } },
    warnings: isText ? [] : [{ type: "compatibility", feature: "object documents", details }],
  };
}

// Registered symbols by which the AI SDK recognizes its errors. All copies of the SDK share them.
function marked(name: string): Record<symbol, true> {
  return { [Symbol.for("vercel.ai.error")]: true, [Symbol.for(`vercel.ai.error.AI_${name}`)]: true };
}

// The AI SDK obeys a Retry-After below this time. For a longer one it would retry after a few seconds of its own
// choice, so that error is marked as not retryable.
const longestWaitMs = 60_000;

function fail(error: unknown, signal: AbortSignalLike | undefined): never {
  if (!isStatusError(error)) throw error;
  if (error.code === "CANCELLED" && signal?.aborted) {
    const name = memberOf(signal.reason, "name") === "TimeoutError" ? "TimeoutError" : "AbortError";
    throw Object.assign(new Error(error.message, { cause: error }), { name });
  }
  const { httpStatus, host, path, retryAfterMs, notRetried } = error;
  const isKept = retryAfterMs === undefined || retryAfterMs < longestWaitMs;
  // Not enumerable, so that a printed error shows only the StatusError's fields.
  define(error, {
    ...marked("APICallError"),
    url: `${host ?? ""}${path ?? ""}`,
    statusCode: httpStatus,
    // The client makes no retries here (maxRetries is 0). `retries-used-up` means that it would otherwise have retried.
    isRetryable: notRetried === "retries-used-up" && isKept,
    responseHeaders: retryAfterMs === undefined ? undefined : { "retry-after-ms": `${retryAfterMs}` },
  });
  throw error;
}

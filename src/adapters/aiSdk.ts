/**
 * Reranking models for the AI SDK.
 *
 * @module tunerank/ai-sdk
 */
import type { Client } from "../client.js";
import { isStatusError, type StatusError } from "../errors/statusError.js";
import { ownProperties } from "../options/arguments.js";
import type { AbortSignalLike } from "../options/types.js";
import type { OptionTable } from "../options/validate.js";
import type { RerankItemsOptions, RerankItemsResponse } from "../ranking/types.js";
import { memberOf } from "../values.js";

/** What the AI SDK asks of a reranking model. */
export interface RerankingCall {
  /** The documents, all of them texts or all of them objects. */
  documents:
    | { readonly type: "text"; readonly values: readonly string[] }
    | { readonly type: "object"; readonly values: readonly object[] };
  /** What the documents are ranked for. */
  query: string;
  /** Keep this many of the best. @default all */
  topN?: number | undefined;
  /** Cancels the call. */
  abortSignal?: AbortSignalLike | undefined;
  /** Headers added to the request. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Options of this provider, below `tunerank`: `task`, a description that guides the ranking. */
  providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** What a reranking model answers the AI SDK. */
export interface RerankingAnswer {
  /** Best first: the position in the documents, and the service's score. */
  ranking: { index: number; relevanceScore: number }[];
  /** What is known of the answer: its request id, and the model that ranked. */
  response: { id?: string; modelId?: string; timestamp: Date };
  /** The tokens used, as the service counts them. */
  providerMetadata: { tunerank: { usage: Record<string, number> } };
  /** That objects were ranked by their JSON, when they were. */
  warnings: { type: "compatibility"; feature: string; details: string }[];
}

/** A reranking model of the AI SDK's provider interface. */
export interface RerankingModel<Version extends "v3" | "v4"> {
  /** The version of the provider interface that it implements. */
  readonly specificationVersion: Version;
  /** The name that stands in the AI SDK's telemetry. */
  readonly provider: "tunerank";
  /** The name of the reranker model. */
  readonly modelId: string;
  /**
   * Ranks documents: the AI SDK calls it.
   *
   * @param options The query, the documents and how many to keep.
   * @throws StatusError as the client's own call does.
   */
  doRerank(options: RerankingCall): Promise<RerankingAnswer>;
}

/** The options of `rerank.items` that are about batches. */
type BatchOption = "batchSize" | "concurrency" | "continueFrom" | "maxBatchBytes" | "onBatch" | "split";

/** Options of {@link createRerankingModel}. */
export interface RerankingModelOptions<Version extends "v3" | "v4">
  extends Pick<RerankItemsOptions<string | object>, BatchOption> {
  /** The provider interface: `"v3"`, which AI SDK 6 and 7 take, or `"v4"` of AI SDK 7 alone. @default "v3" */
  specificationVersion?: Version | undefined;
}

const names: OptionTable<RerankingModelOptions<"v3">> = {
  specificationVersion: 1,
  batchSize: 1,
  concurrency: 1,
  continueFrom: 1,
  maxBatchBytes: 1,
  onBatch: 1,
  split: 1,
};

/**
 * A reranking model for the `rerank` function of the AI SDK (the package `ai`), over a client of this package.
 * Repeats are the AI SDK's, by its `maxRetries`: each asks the service once, where the client would repeat. Documents
 * that are objects are ranked by their JSON, with a warning. `providerOptions.tunerank.task` is the request's `task`.
 *
 * @param client The client that makes the calls.
 * @param modelId The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.
 * @param options For batches, and the version of the provider interface.
 * @throws StatusError from `rerank`, as the client's own call does; after repeats it is the `lastError` of the AI SDK's
 * RetryError. An abort is an AbortError, whose `cause` is the StatusError.
 * @example
 * const model = createRerankingModel(client, "accounts/acme/models/reranker-small");
 * const { rerankedDocuments } = await rerank({ model, query, documents, topN: 3 });
 */
export function createRerankingModel<Version extends "v3" | "v4" = "v3">(
  client: Pick<Client, "rerank">,
  modelId: string,
  options: RerankingModelOptions<Version> = {},
  // NoInfer, which TypeScript has since 5.4 only: the version is what `options` says, not what the model is passed to.
): RerankingModel<[Version][Version extends unknown ? 0 : never]> {
  const { specificationVersion, ...batches } = ownProperties(options, "options", names);
  return {
    specificationVersion: (specificationVersion ?? "v3") as Version,
    provider: "tunerank",
    modelId,
    doRerank: (call) => rank(client, modelId, call, batches).catch((error) => fail(error, call.abortSignal)),
  };
}

async function rank(
  client: Pick<Client, "rerank">,
  model: string,
  call: RerankingCall,
  batches: Pick<RerankItemsOptions<string | object>, BatchOption>,
): Promise<RerankingAnswer> {
  // Its own members only: a polluted prototype adds no option.
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
    // A task that is no string is refused by the call itself.
    task,
    signal: abortSignal,
    headers,
    maxRetries: 0,
  });
  return modelAnswer(await ranking.withResponse(), isText);
}

function modelAnswer(
  { data, model, usage, requestIds: [id] }: RerankItemsResponse<string | object>,
  isText: boolean,
): RerankingAnswer {
  return {
    ranking: data.map(({ index, score }) => ({ index, relevanceScore: score })),
    response: { timestamp: new Date(), ...(id && { id }), ...(model && { modelId: model }) },
    providerMetadata: { tunerank: { usage: { ...usage } } },
    warnings: isText ? [] : [objectWarning],
  };
}

// How the AI SDK knows what it may repeat: it goes by registered symbols, so that copies of it work together.
const markers = ["vercel.ai.error", "vercel.ai.error.AI_APICallError"];

// It waits for less than this if told to, and for seconds of its own choice instead of more.
const longestWaitMs = 60_000;

function fail(error: unknown, signal: AbortSignalLike | undefined): never {
  if (!isStatusError(error)) throw error;
  if (error.code === "CANCELLED" && signal?.aborted) throw abortError(error, signal.reason);
  const { httpStatus, host, path, retryAfterMs, notRetried } = error;
  const isKept = retryAfterMs === undefined || retryAfterMs < longestWaitMs;
  const described = {
    ...Object.fromEntries(markers.map((marker) => [Symbol.for(marker), true])),
    url: `${host ?? ""}${path ?? ""}`,
    statusCode: httpStatus,
    // With retries left, the client would have made another.
    isRetryable: notRetried === "retries-used-up" && isKept,
    responseHeaders: retryAfterMs === undefined ? undefined : { "retry-after-ms": `${retryAfterMs}` },
  };
  for (const key of Reflect.ownKeys(described)) {
    const value: unknown = Reflect.get(described, key);
    // Not shown: to people it is a StatusError.
    Object.defineProperty(error, key, { __proto__: null, value } as PropertyDescriptor);
  }
  throw error;
}

function abortError(cause: StatusError, reason: unknown): Error {
  const name = memberOf(reason, "name") === "TimeoutError" ? "TimeoutError" : "AbortError";
  return Object.assign(new Error(cause.message, { cause }), { name });
}

const objectWarning: RerankingAnswer["warnings"][number] = {
  type: "compatibility",
  feature: "object documents",
  details: "The service ranks text: each object is sent as its JSON.",
};

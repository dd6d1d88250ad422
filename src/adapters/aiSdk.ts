/**
 * Reranking models for the AI SDK.
 *
 * @module tunerank/ai-sdk
 */
import type { Client } from "../client.js";
import { memberOf } from "../errors/memberOf.js";
import type { AbortSignalLike } from "../options/options.js";

/** What the AI SDK asks of a reranking model. */
export interface RerankingCall {
  documents:
    | { readonly type: "text"; readonly values: readonly string[] }
    | { readonly type: "object"; readonly values: readonly object[] };
  query: string;
  topN?: number | undefined;
  abortSignal?: AbortSignalLike | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** What a reranking model answers the AI SDK. */
export interface RerankingAnswer {
  ranking: { index: number; relevanceScore: number }[];
  response: { id?: string; modelId?: string; timestamp: Date };
  providerMetadata: { tunerank: { usage: Record<string, number> } };
  warnings: { type: "compatibility"; feature: string; details: string }[];
}

/** A reranking model of the AI SDK's provider interface. */
export interface RerankingModel<Version extends "v3" | "v4"> {
  readonly specificationVersion: Version;
  readonly provider: "tunerank";
  readonly modelId: string;
  doRerank(options: RerankingCall): Promise<RerankingAnswer>;
}

/** Options of {@link createRerankingModel}. */
export interface RerankingModelOptions<Version extends "v3" | "v4"> {
  /** The provider interface: `"v4"` is of AI SDK 7, `"v3"` of AI SDK 6. @default "v4" */
  specificationVersion?: Version | undefined;
}

/**
 * A reranking model for the `rerank` function of the AI SDK (the package `ai`), over a client of this package.
 * Repeats are the client's: the AI SDK adds none of its own to a `StatusError`. Documents that are objects are
 * ranked by their JSON, with a warning. `providerOptions.tunerank.task` is the request's `task`.
 *
 * @param modelId The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.
 * @param options For AI SDK 6.
 * @throws StatusError from `rerank`, as the client's own call does.
 * @example
 * const model = createRerankingModel(client, "accounts/acme/models/reranker-small");
 * const { rerankedDocuments } = await rerank({ model, query, documents, topN: 3 });
 */
export function createRerankingModel<Version extends "v3" | "v4" = "v4">(
  client: Pick<Client, "rerank">,
  modelId: string,
  options: RerankingModelOptions<Version> = {},
): RerankingModel<NoInfer<Version>> {
  return {
    specificationVersion: (memberOf(options, "specificationVersion") ?? "v4") as Version,
    provider: "tunerank",
    modelId,
    doRerank: (call) => rank(client, modelId, call),
  };
}

async function rank(
  client: Pick<Client, "rerank">,
  model: string,
  call: RerankingCall,
): Promise<RerankingAnswer> {
  // Its own members only: a polluted prototype adds no option.
  const own: RerankingCall = Object.assign(Object.create(null), call);
  const { documents, query, topN, abortSignal, headers, providerOptions } = own;
  const isText = documents.type === "text";
  const ranking = client.rerank.items<string | object>(query, documents.values, {
    text: (document) => (typeof document === "string" ? document : JSON.stringify(document)),
    model,
    topN,
    // A task that is no string is refused by the call itself.
    task: memberOf(memberOf(providerOptions, "tunerank"), "task") as string | undefined,
    signal: abortSignal,
    headers,
  });
  const { data, model: used, usage, requestIds } = await ranking.withResponse();
  const [id] = requestIds;
  return {
    ranking: data.map(({ index, score }) => ({ index, relevanceScore: score })),
    response: { timestamp: new Date(), ...(id && { id }), ...(used && { modelId: used }) },
    providerMetadata: { tunerank: { usage: { ...usage } } },
    warnings: isText ? [] : [objectWarning],
  };
}

const objectWarning: RerankingAnswer["warnings"][number] = {
  type: "compatibility",
  feature: "object documents",
  details: "The service ranks text: each object is sent as its JSON.",
};

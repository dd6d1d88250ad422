import type { Unusable } from "../call/answer.js";
import { loaded, type Outcome, start } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import type { RerankRequest } from "../generated/types.js";
import { ownProperties } from "../options/arguments.js";
import type { CallOptions } from "../options/options.js";
import type { RankedItem, RerankItemsResponse } from "./mergeRankings.js";

/** Options of {@link RerankItems}: those of a call, its own, and the fields of a rerank that are passed on. */
export interface RerankItemsOptions<T>
  extends CallOptions,
    Omit<RerankRequest, "query" | "documents" | "top_n" | "return_documents"> {
  /**
   * The text the service is to rank an item by. Called for every item before anything is sent, and for those
   * after the first batch once more when they are, so that not all texts need be kept.
   */
  text: (item: T, index: number) => string;
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** Keep this many of the best: at least 1. Applied once, to all items together. @default all */
  topN?: number | undefined;
  /**
   * The most items of one request: at least 1. Their scores then come from several requests: they may be compared
   * only if your model scores each document by itself, whatever else is in its request. The service does not say so
   * of any model. @default all items in one request
   */
  batchSize?: number | undefined;
  /** How many batches are under way at once: at least 1. @default 4 */
  concurrency?: number | undefined;
  /**
   * Milliseconds for all batches together. Greater than 0.
   * @default 60,000 for one batch, and for all as often as `concurrency` batches fit into them
   */
  timeoutMs?: number | undefined;
}

/** A running {@link RerankItems}: await it for the ranked items. */
export interface RerankItemsPromise<T> extends Promise<RankedItem<T>[]> {
  /** Resolves to the ranked items together with the model, the tokens used and the requests made. */
  withResponse(): Promise<RerankItemsResponse<T>>;
}

/** How {@link Rerank.items} is called. The contract's `rerankDocuments`. */
export interface RerankItems {
  /**
   * Ranks things of any kind by a text of each: hands them back best first, equal scores in the order of `items`.
   * The service is asked to send no documents back, and every index it names is checked. No items, no request.
   * An item the service leaves out is left out here. When one batch fails the call fails with its error and the other
   * batches are cancelled.
   *
   * @param query What the items are ranked for.
   * @param items The things to rank, of any type.
   * @param options How to get the text of an item, how many to keep, and what any call may set.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `INTERNAL` with `executed: "yes"` for an answer that cannot be matched with the items. `executed` and `attempts` are
   * of all batches together: `"yes"` when any of them ran. The message names the item, `items[31]`, where the service
   * named a document of the batch, `documents[1]`; `body` is what the service said.
   * @example
   * const best = await client.rerank.items("capital of France", cities, { text: (city) => city.summary, topN: 3 });
   * best[0]?.item; // one of `cities`
   */
  // biome-ignore lint/style/useShorthandFunctionType: an editor shows what is said of a call signature
  <T>(query: string, items: readonly T[], options: RerankItemsOptions<T>): RerankItemsPromise<T>;
}

/** @internal The rerank call that {@link RerankItems} is made of. */
export interface RerankCall {
  readonly client: LateSettings;
  send<R>(
    body: RerankRequest,
    options: CallOptions,
    read: (answer: object) => R | Unusable,
  ): Promise<Outcome<R>>;
}

/** @internal Makes {@link RerankItems} over a rerank call. */
export function createRerankItems(rerank: RerankCall): RerankItems {
  return function items(query, given, options) {
    return start(
      "rerankDocuments",
      async () => {
        const own = ownProperties(options, "options");
        // Copied: the caller's may change while the rest is loaded, and while calls run.
        const list = Array.isArray(given) ? [...given] : given;
        const { rankItems } = await loaded(import("./rankItems.js"));
        return rankItems(rerank, query, list, own);
      },
      (response) => response,
    );
  };
}

import type { ClientConfig } from "../call/settings.js";
import type { Outcome, ResponseReader } from "../call/types.js";
import type { Attempt } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankUsage } from "../generated/types.js";
import type { CallOptions } from "../options/types.js";

/** One of the caller's things, ranked. */
export interface RankedItem<T> {
  /** The thing itself. */
  readonly item: T;
  /** Its position in `items`. */
  readonly index: number;
  /** The service's `relevance_score`, as it came. */
  readonly score: number;
  /** Which of its parts has this score, the best of them, from 0; there only with `split`. */
  readonly part?: number;
}

/** What `withResponse()` of a ranking of items resolves to. */
export interface RerankItemsResponse<T> {
  /** What the call alone resolves to. */
  readonly data: RankedItem<T>[];
  /** The model the service used; undefined when nothing was sent. */
  readonly model: string | undefined;
  /** The tokens of all batches together. */
  readonly usage: RerankUsage;
  /** The ids of the answers that had one. */
  readonly requestIds: readonly string[];
  /** Every HTTP request made, batch by batch as they ended. */
  readonly attempts: readonly Attempt[];
}

/** Some items in a row. */
export interface ItemRange {
  /** The position of the first of them in `items`. */
  readonly offset: number;
  /** How many there are. */
  readonly count: number;
}

/** A batch of {@link RerankItems}. */
export interface ItemBatch extends ItemRange {
  /** Its number, from 0, in the order in which batches are begun. */
  readonly batch: number;
}

/** What {@link RerankItemsOptions.onBatch} is called with. */
export interface RankedBatch<T> extends ItemBatch {
  /** Its items, best first. With `split`, one may have better parts in another batch. */
  readonly data: readonly RankedItem<T>[];
  /** The model that ranked it. */
  readonly model: string | undefined;
  /** The tokens it used. */
  readonly usage: RerankUsage;
  /** How many batches are finished, this one included. */
  readonly done: number;
  /** How many batches the call makes. */
  readonly batches: number;
}

/** What a failed call has ranked. Plain data: it can be kept as JSON, and continued by another program. */
export interface RerankPartial<T> {
  /** The items ranked so far, best first; not cut to `topN`. */
  readonly data: readonly RankedItem<T>[];
  /** The model that ranked them; undefined when there are none. */
  readonly model: string | undefined;
  /** The tokens used so far. */
  readonly usage: RerankUsage;
  /** The ids of the answers that had one. */
  readonly requestIds: readonly string[];
  /** The items that are not ranked. One of several parts is, once all of them are. */
  readonly missing: readonly ItemRange[];
  /** The batch whose error the call ended with; the others that are missing were cancelled, or not begun. */
  readonly failed: ItemBatch;
  /** Stands for the texts of the items, the query, and the model, task and other fields of the requests. */
  readonly fingerprint: string;
}

/** The error of {@link RerankItems}, when at least one request was made. */
export interface RerankItemsError<T> extends StatusError {
  /** What was ranked, and what is missing. It is left out of logs, where its items have no place. */
  readonly partial: RerankPartial<T>;
}

/** Options of {@link RerankItems}: those of a call, its own, and the fields of a rerank that are passed on. */
export interface RerankItemsOptions<T>
  extends CallOptions,
    Omit<RerankRequest, "query" | "documents" | "top_n" | "return_documents"> {
  /**
   * The text the service is to rank an item by. Called for every item before anything is sent, and for those
   * after the first batch once more when they are, so that not all texts need be kept.
   */
  text: (item: T, index: number) => string;
  /**
   * Splits a text that is too long for the model into parts, each a document of its own. An item's score is that of its
   * best part, whose number stands on it as `part`. Called whenever `text` is. It is not documented how long is
   * too long. @default every text is one document
   */
  split?: ((text: string, item: T) => readonly string[]) | undefined;
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** Keep this many of the best: at least 1. Applied once, to all items together. @default all */
  topN?: number | undefined;
  /**
   * The most documents of one request: at least 1. Without `split` each item is one. Their scores then come from several requests: they may be compared
   * only if your model scores each document by itself, whatever else is in its request. The service does not say so
   * of any model. With several requests, transient failures of each are retried until its deadline, unless `maxRetries`
   * is set. @default all items in one request
   */
  batchSize?: number | undefined;
  /**
   * The most bytes of one request's JSON, in UTF-8: batches end at this or at `batchSize`, whichever comes first. At
   * least 1; an item that alone makes a larger request is refused before anything is sent. @default no limit
   */
  maxBatchBytes?: number | undefined;
  /**
   * Called after each batch that was ranked, as `onAttempt` is after each attempt: it is not waited for, and what it
   * throws is ignored.
   */
  onBatch?: ((batch: RankedBatch<T>) => void) | undefined;
  /**
   * Goes on where a failed call ended: its error's `partial`. Only what is missing is sent. Refused when the texts of the
   * items, the query, the model, the task or another field of the requests differ; batches may be cut otherwise.
   */
  continueFrom?: RerankPartial<unknown> | undefined;
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
   * An answer that does not rank every document that was sent fails. When one batch fails the call fails with its
   * error and the other batches are cancelled.
   *
   * @param query What the items are ranked for.
   * @param items The things to rank, of any type.
   * @param options How to get the text of an item, how many to keep, and what any call may set.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `INTERNAL` with `executed: "yes"` for an answer that cannot be matched with the items. `executed` and `attempts` are
   * of all batches together: `"yes"` when any of them ran. The message names the item, `items[31]`, where the service
   * named a document of the batch, `documents[1]`, and else the batch; `body` is what the service said. Once a request was
   * made, it is a {@link RerankItemsError}, whose `partial` has what was ranked.
   * @example
   * const best = await client.rerank.items("capital of France", cities, { text: (city) => city.summary, topN: 3 });
   * best[0]?.item; // one of `cities`
   */
  // biome-ignore lint/style/useShorthandFunctionType: an editor shows what is said of a call signature
  <T>(query: string, items: readonly T[], options: RerankItemsOptions<T>): RerankItemsPromise<T>;
}

/** @internal The rerank call that {@link RerankItems} is made of. */
export interface RerankCall {
  readonly client: ClientConfig;
  send<R>(body: RerankRequest, own: CallOptions, read: ResponseReader<R>): Promise<Outcome<R>>;
}

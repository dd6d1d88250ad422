import type { Attempt } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankUsage } from "../generated/types.js";
import type { CallOptions, CallResponse } from "../options/types.js";

/** An item of the caller, with its score. */
export interface RankedItem<T> {
  /** The caller's item itself. */
  readonly item: T;
  /** The item's position in `items`, from 0. */
  readonly index: number;
  /** The service's `relevance_score`, unchanged. */
  readonly score: number;
  /** The number, from 0, of the item's best part, which has this score; set only with `split`. */
  readonly part?: number;
}

/** What {@link RerankItemsPromise.withResponse} resolves to; status, headers and `requestId` are the last response's. */
export interface RerankItemsResponse<T>
  extends Partial<Pick<CallResponse<T>, "requestId" | "httpStatus" | "headers">> {
  /** The ranked items: what the call resolves to without `withResponse()`. */
  readonly data: RankedItem<T>[];
  /** The model that ranked the items; undefined when none was ranked. */
  readonly model: string | undefined;
  /** The tokens of all batches together. */
  readonly usage: RerankUsage;
  /** The request ids of the responses that had one. */
  readonly requestIds: readonly string[];
  /** Every HTTP request made. */
  readonly attempts: readonly Attempt[];
}

/** A range of items in a row. */
export interface ItemRange {
  /** The position of the range's first item in `items`, from 0. */
  readonly offset: number;
  /** How many items the range has. */
  readonly count: number;
}

/** A batch of {@link RerankItems}. */
export interface ItemBatch extends ItemRange {
  /** The batch's number, from 0, in the order in which batches are begun. */
  readonly batch: number;
}

/** The argument of {@link RerankItemsOptions.onBatch}: a batch that was ranked. */
export interface RankedBatch<T> extends ItemBatch {
  /** The batch's items, best first. With `split`, an item may have a better part in another batch. */
  readonly data: readonly RankedItem<T>[];
  /** The model that ranked the batch. */
  readonly model: string | undefined;
  /** The tokens that the batch used. */
  readonly usage: RerankUsage;
  /** How many batches are finished, this one included. */
  readonly done: number;
  /** How many batches the call makes. */
  readonly batches: number;
}

/** The results of a failed call so far. Plain data: it can be kept as JSON, and another program can continue it. */
export interface RerankPartial<T> extends Pick<RerankItemsResponse<T>, "model" | "usage" | "requestIds"> {
  /** The items ranked so far, best first; not cut to `topN`. */
  readonly data: readonly RankedItem<T>[];
  /** The items of which not all parts are ranked. */
  readonly missing: readonly ItemRange[];
  /** The batch whose error ended the call. */
  readonly failed: ItemBatch;
  /** A hash of all fields of the requests. */
  readonly fingerprint: string;
}

/** The error of {@link RerankItems}, when at least one request was made. */
export interface RerankItemsError<T> extends StatusError {
  /** What was ranked so far. Not enumerable, so that logs do not show your items. */
  readonly partial: RerankPartial<T>;
}

/** Options of {@link RerankItems}: those of any call, those below, and fields of the request that are passed on. */
export interface RerankItemsOptions<T>
  extends CallOptions,
    Omit<RerankRequest, "query" | "documents" | "top_n" | "return_documents"> {
  /**
   * Returns the text by which the service ranks an item. Called for each item before anything is sent, and for
   * items after the first batch again when their batch is sent.
   */
  text: (item: T, index: number) => string;
  /**
   * Splits a text that is too long for the model into parts, each a document of its own. An item's score is that of its
   * best part, whose number is in `part`. Called whenever `text` is called. @default every text is one document
   */
  split?: ((text: string, item: T) => readonly string[]) | undefined;
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** How many of the best items to keep: at least 1. Applied once, to all items together. @default all */
  topN?: number | undefined;
  /**
   * The maximum number of documents in one request: at least 1. Scores from several requests may be compared only if
   * your model scores each document by itself, which the service documents for no model. With several requests,
   * transient failures of each are retried until its deadline, unless `maxRetries` is set.
   * @default all items in one request
   */
  batchSize?: number | undefined;
  /**
   * The maximum size of one request's JSON, in bytes of UTF-8: batches end at this or at `batchSize`, whichever comes
   * first. At least 1; if one item alone makes a larger request, the call fails before anything is sent. @default no
   * limit
   */
  maxBatchBytes?: number | undefined;
  /** Called after each batch that was ranked. The call does not wait for it, and ignores what it throws or rejects with. */
  onBatch?: ((batch: RankedBatch<T>) => void) | undefined;
  /**
   * The `partial` of a failed call's error, to go on where that call ended: only missing items are sent. The call fails
   * if the texts of the items, the query, the model or another field of the requests differ.
   */
  continueFrom?: RerankPartial<unknown> | undefined;
  /**
   * The maximum number of batches in flight: at least 1. `"auto"` searches for the best limit from 4 up to 256 or `max`.
   * With `maxRetries` it is 4. @default "auto"
   */
  concurrency?: number | "auto" | { readonly max: number } | undefined;
  /**
   * Milliseconds for all batches together. Greater than 0.
   * @default 60,000 × (the number of batches / `concurrency`, rounded up); with `"auto"`, / 4 or `max`
   */
  timeoutMs?: number | undefined;
}

/** A running {@link RerankItems}: await it for the ranked items. */
export interface RerankItemsPromise<T> extends Promise<RankedItem<T>[]> {
  /** Resolves to the ranked items together with the model, the tokens used and the requests made. */
  withResponse(): Promise<RerankItemsResponse<T>>;
}

/** The type of `client.rerank.items`; it calls the contract's `rerankDocuments`. */
export interface RerankItems {
  /**
   * Ranks items of any type by a text of each. Resolves to them best first, equal scores in the order of `items`. The
   * service sends no documents back. Without items, no request is made. A response that does not rank every document is
   * a failure. When one batch fails, the call fails with its error and the other batches are cancelled.
   *
   * @param query What the items are ranked for.
   * @param items The items to rank, of any type.
   * @param options How to get the text of an item, how many items to keep, and the options of any call.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `INTERNAL` with `executed: "yes"` for a response that cannot be matched with the items. `executed` and `attempts`
   * cover all batches; the message names the item, `items[31]`, or the batch. `body` is the response's. Once a request
   * was made, the error is a {@link RerankItemsError}, whose `partial` has what was ranked.
   * @example
   * const best = await client.rerank.items("capital of France", cities, { text: (city) => city.summary, topN: 3 });
   * best[0]?.item; // one of `cities`
   */
  // biome-ignore lint/style/useShorthandFunctionType: an editor shows what is said of a call signature
  <T>(query: string, items: readonly T[], options: RerankItemsOptions<T>): RerankItemsPromise<T>;
}

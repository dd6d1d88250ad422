// Requests whose documents are sent in batches: each has one result.
import type { Failure } from "../errors/failure.js";
import { isStatusError, refusal, type StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { AttemptEvent } from "../options/types.js";
import {
  type DoneBatch,
  errorOfBatches,
  mergeRankings,
  placesIn,
  type Ranking,
  RequestsMade,
  readRanking,
} from "../ranking/merge.js";
import {
  type Batch,
  type BatchDocuments,
  documentsOf,
  OpenBatch,
  type Places,
  textsOfItems,
} from "../ranking/plan.js";
import { WithoutPrototype } from "../values.js";
import type { RejectedDocument, RerankAllResponse, RerankAllResult, RunSettings } from "./options.js";

// After so many rejected batches and none ranked, the query counts as invalid: halving finds 1 invalid document of 1000
// sooner. A rejection that names documents counts as a quarter.
const mostRejected = 16;
// The word for what is batched, in error messages.
const list = "documents";

/** A request that was taken from the source and has no result yet. */
export interface PendingRequest<Id> {
  readonly id: Id;
  /** The position of the request in the source, from 0. */
  readonly number: number;
  /** Its place among the requests without a result. */
  at: number;
  readonly body: RerankRequest;
  /** Why the request is invalid, if that is known before anything is sent. */
  readonly wrong: StatusError | undefined;
  /** The event of the successful attempt; set only if the caller passed `onAttempt`. */
  event: AttemptEvent | undefined;
  /** The call that ranks the request; undefined until the call has begun. */
  call: { abort(): void; readonly paidFor: Failure | undefined } | undefined;
  /** The request of which this is a batch; undefined for a request that is sent whole. */
  readonly whole: BatchedRequest<Id> | undefined;
}

/** Those documents of a batch that are sent together. */
interface Part<Some = BatchDocuments> {
  readonly number: number;
  readonly batch: Batch;
  readonly some: Some;
}

/**
 * A request whose documents are sent in batches, divided as `rerank.items` divides items. Its batches are requests of the
 * run, and have one result together.
 */
export class BatchedRequest<Id> {
  readonly request: PendingRequest<Id>;
  readonly #isSplit: boolean;
  readonly #textsOf: (document: number) => readonly string[];
  // What is left to send, the last entry next. A whole batch has `some` undefined: its texts are read when it is sent.
  #rest: Part<BatchDocuments | undefined>[];
  readonly #inFlight: Map<PendingRequest<Id>, Part> = new Map();
  readonly #done: DoneBatch[] = [];
  readonly #rejected: Map<number, StatusError> = new Map();
  #rejections = 0;
  #failure: (Part & { readonly error: StatusError }) | undefined;
  readonly #made: RequestsMade = new RequestsMade();

  /** @throws StatusError if `split` fails, or if there are more batches than the run may send */
  constructor(whole: PendingRequest<Id>, settings: RunSettings<Id>) {
    const { documents } = whole.body;
    const { batchSize = Number.POSITIVE_INFINITY, maxRequests = Number.POSITIVE_INFINITY, split } = settings;
    this.request = whole;
    this.#isSplit = split !== undefined;
    this.#textsOf = textsOfItems(documents, String, split, list);
    const all = [{ offset: 0, count: documents.length }];
    const { batches } = new OpenBatch(batchSize, undefined, whole.body).addAll(all, this.#textsOf);
    // A request that no run can finish is not begun: its batches would be paid for at each start.
    if (batches.length > maxRequests)
      throw refusal(
        "OUT_OF_RANGE",
        "maxRequests",
        `The request needs ${batches.length} HTTP requests (batchSize), and maxRequests is ${maxRequests}.`,
      );
    this.#rest = batches.map((batch, number) => ({ number, batch, some: undefined })).reverse();
  }

  /** Why the request has failed; undefined while it may succeed. */
  get error(): StatusError | undefined {
    return this.#failure?.error;
  }

  /** How many of its batches were ranked, and so paid for. */
  get ranked(): number {
    return this.#done.length;
  }

  /** The next batch to send; undefined if none is left, or if it waits for another batch's result. */
  next(): PendingRequest<Id> | undefined {
    // While documents are rejected and none was ranked, the query may be invalid: one batch is sent at a time.
    const isSearching = this.#rejections > 0 && this.#done.length === 0;
    if (this.#failure !== undefined || (isSearching && this.#inFlight.size > 0)) return undefined;
    const rest = this.#rest.pop();
    if (rest === undefined) return undefined;
    const { texts, places } = rest.some ?? documentsOf(rest.batch, this.#textsOf, this.#isSplit);
    const some = { texts, places: { ...places, list } };
    // The service need not send the documents back: the caller has them.
    const own = { documents: texts, top_n: undefined, return_documents: false };
    const body = Object.assign(new WithoutPrototype(), this.request.body, own);
    const pending = { ...this.request, body, whole: this };
    this.#inFlight.set(pending, { ...rest, some });
    return pending;
  }

  /** Takes the result of a batch. @returns The result of the request, if this was its last batch */
  settled(batch: PendingRequest<Id>, result: RerankAllResult<Id>): RerankAllResult<Id> | undefined {
    const sent = this.#inFlight.get(batch) as Part;
    this.#inFlight.delete(batch);
    // An own property: Object.prototype may have an `error`.
    if (Object.hasOwn(result, "error")) this.#failed(sent, result.error as StatusError);
    else this.#ranked(sent, result.response as RerankResponse);
    const isOver = this.#rest.length === 0 || this.#failure !== undefined;
    return isOver && this.#inFlight.size === 0 ? this.result() : undefined;
  }

  #ranked({ number, some: { texts, places } }: Part, response: RerankResponse): void {
    // The run has checked the response, so this is a ranking.
    const ranking = readRanking(response, texts, places.itemOf) as Ranking;
    this.#made.add([]);
    this.#done.push({ number, places, ranking, attempts: [], headers: {} });
  }

  #failed(sent: Part, error: StatusError): void {
    this.#made.addFailed(error);
    if (this.#failure !== undefined) return;
    const isHopeless = this.#rejections + 1 >= mostRejected && this.#done.length === 0;
    if (isRejection(error) && !isHopeless) this.#leaveOut(sent, error);
    else this.#fail(sent, error);
  }

  // Leaves out the documents that the service names. If it names none, each half of the batch is sent by itself.
  #leaveOut(sent: Part, error: StatusError): void {
    const { texts, places } = sent.some;
    const named = new Set(placesIn(error.text).filter((document) => document < texts.length));
    this.#rejections += named.size > 0 ? 0.25 : 1;
    const half = texts.length >> 1;
    if (named.size === 0 && half === 0) named.add(0);
    if (named.size === 0) this.#rest.push(only(sent, (document) => document >= half));
    this.#rest.push(only(sent, (document) => (named.size === 0 ? document < half : !named.has(document))));
    for (const document of named) this.#reject(places, document, error);
    // Other parts of a rejected document are not sent either. The largest rest is next, likeliest to have a valid one.
    this.#rest = this.#rest.map((rest) => this.#accepted(rest)).filter((rest) => rest !== undefined);
    const sizeOf = ({ batch, some }: Part<BatchDocuments | undefined>): number =>
      some?.texts.length ?? batch.count;
    if (this.#done.length === 0) this.#rest.sort((one, other) => sizeOf(one) - sizeOf(other));
    if (this.#rejected.size === this.request.body.documents.length) this.#fail(sent, error);
  }

  #reject(places: Places, document: number, error: StatusError): void {
    const item = places.itemOf(document);
    const made = new RequestsMade();
    made.addFailed(error);
    if (!this.#rejected.has(item)) this.#rejected.set(item, errorOfBatches(error, undefined, places, made));
  }

  #accepted(rest: Part<BatchDocuments | undefined>): Part<BatchDocuments | undefined> | undefined {
    const { offset, parts } = rest.batch;
    const { some } = rest;
    if (some === undefined) return parts !== undefined && this.#rejected.has(offset) ? undefined : rest;
    const left = only({ ...rest, some }, (document) => !this.#rejected.has(some.places.itemOf(document)));
    return left.some.texts.length > 0 ? left : undefined;
  }

  #fail(sent: Part, error: StatusError): void {
    this.#failure = { ...sent, error };
    for (const { call } of this.#inFlight.keys()) call?.abort();
  }

  /** The result of the request, once all its batches have one, or it has failed. */
  result(): RerankAllResult<Id> {
    const { id } = this.request;
    const failure = this.#failure;
    try {
      if (failure !== undefined)
        throw errorOfBatches(failure.error, undefined, failure.some.places, this.#made);
      const rejected = [...this.#rejected].map(([index, error]): RejectedDocument => ({ index, error }));
      const response = this.#response();
      return rejected.length > 0 ? { id, response, rejected } : { id, response };
    } catch (error) {
      return { id, error: error as StatusError };
    }
  }

  #response(): RerankAllResponse {
    const { documents, top_n, return_documents } = this.request.body;
    const merged = mergeRankings({ items: documents, batches: this.#done, before: undefined }, undefined);
    const ranked = merged.data.filter(({ index }) => !this.#rejected.has(index)).slice(0, top_n);
    const data = ranked.map(({ item: document, index, score: relevance_score, part }) => ({
      ...{ index, relevance_score },
      ...(return_documents === false ? {} : { document }),
      ...(this.#isSplit ? { part } : {}),
    }));
    return { object: "list", model: merged.model as string, data, usage: merged.usage };
  }
}

/**
 * Returns a request with its batches, if the run sends requests in batches and the request is valid; else the request.
 * @param whole The request as it was read from the source.
 */
export function batchesOf<Id>(
  whole: PendingRequest<Id>,
  settings: RunSettings<Id>,
): BatchedRequest<Id> | PendingRequest<Id> {
  const { batchSize, split } = settings;
  if (batchSize === undefined && split === undefined) return whole;
  if (whole.wrong !== undefined || !isDivisible(whole.body)) return whole;
  try {
    return new BatchedRequest(whole, settings);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { ...whole, wrong: error };
  }
}

// Whether a request can be divided into batches: it has a list of documents and a valid top_n. Any other is passed on
// whole, and the client rejects it.
function isDivisible({ documents, top_n }: RerankRequest): boolean {
  const isList = Array.isArray(documents) && documents.every((document) => typeof document === "string");
  return (
    isList && documents.length > 0 && (top_n === undefined || (Number.isSafeInteger(top_n) && top_n > 0))
  );
}

// Whether the service rejected a request because of its content. Such a request is assumed not to have run.
function isRejection({ code, codeSource, executed }: StatusError): boolean {
  const isInvalid = code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE";
  return isInvalid && executed === "no" && (codeSource === "body" || codeSource === "status");
}

/** Some documents of a batch, at new positions. */
function only(part: Part, isKept: (document: number) => boolean): Part {
  const { texts, places } = part.some;
  const kept = texts.flatMap((_, document) => (isKept(document) ? [document] : []));
  const at = (document: number): number => kept[document] as number;
  return {
    ...part,
    some: {
      texts: kept.map((document) => texts[document] as string),
      places: {
        ...places,
        documents: kept.length,
        itemOf: (document) => places.itemOf(at(document)),
        partOf: (document) => places.partOf(at(document)),
      },
    },
  };
}

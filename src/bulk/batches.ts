// Requests whose documents are sent in batches: each has one result.
import type { Failure } from "../errors/failure.js";
import { isStatusError, refusal, type StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { AttemptEvent } from "../options/types.js";
import {
  type DoneBatch,
  errorOfBatches,
  isRejection,
  mergeRankings,
  type Ranking,
  RequestsMade,
  readRanking,
} from "../ranking/merge.js";
import { type Batch, type BatchDocuments, documentsOf, OpenBatch, textsOfItems } from "../ranking/plan.js";
import { WithoutPrototype } from "../values.js";
import type { RejectedDocument, RerankAllResponse, RerankAllResult, RunSettings } from "./options.js";

// The word for what is batched, in error messages.
const list = "documents";
// In which order parts have their turn. A part that was rejected is halved when its turn comes; any other is sent.
const [half, firstOfQuarter, rejectedHalf, rejectedBatch, other] = [0, 1, 2, 3, 4];

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
  /** How often its batch was halved. */
  readonly depth: number;
  readonly turn: number;
}

/**
 * A request whose documents are sent in batches, divided as `rerank.items` divides items. Its batches are requests of the
 * run, and have one result together.
 */
export class BatchedRequest<Id> {
  readonly request: PendingRequest<Id>;
  readonly #isSplit: boolean;
  readonly #textsOf: (document: number) => readonly string[];
  // What is left to send, in order. A whole batch has `some` undefined: its texts are read when it is sent.
  #rest: Part<BatchDocuments | undefined>[];
  readonly #inFlight: Map<PendingRequest<Id>, Part> = new Map();
  readonly #done: DoneBatch[] = [];
  readonly #rejected: Map<number, StatusError> = new Map();
  // Whether documents were rejected and none was ranked: the query may be invalid, and one batch is sent at a time.
  #isSearching = false;
  // The first document of each quarter of the request, once these are sent alone to judge the query.
  #probed: readonly number[] | undefined;
  #failure: StatusError | undefined;
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
    this.#rest = batches.map((batch, number) => ({ number, batch, some: undefined, depth: 0, turn: other }));
  }

  /** Why the request has failed; undefined while it may succeed. */
  get error(): StatusError | undefined {
    return this.#failure;
  }

  /** How many of its batches were ranked, and so paid for. */
  get ranked(): number {
    return this.#done.length;
  }

  /** The next batch to send; undefined if none is left, or if it waits for another batch's result. */
  next(): PendingRequest<Id> | undefined {
    if (this.#failure !== undefined || (this.#isSearching && this.#inFlight.size > 0)) return undefined;
    const rest = this.#turn();
    if (rest === undefined) return undefined;
    const some = rest.some ?? documentsOf(rest.batch, this.#textsOf, this.#isSplit);
    // The service need not send the documents back: the caller has them.
    const own = { documents: some.texts, top_n: undefined, return_documents: false };
    const body = Object.assign(new WithoutPrototype(), this.request.body, own);
    const pending = { ...this.request, body, whole: this };
    this.#inFlight.set(pending, { ...rest, some });
    return pending;
  }

  #turn(): Part<BatchDocuments | undefined> | undefined {
    for (;;) {
      const turn = this.#rest[0]?.turn;
      // The first batch, and each half of it, were rejected.
      const isUndecided = this.#isSearching && (turn === rejectedHalf || turn === other);
      if (isUndecided && this.#probed === undefined) this.#probe();
      else if (turn === rejectedHalf || turn === rejectedBatch) this.#halve(this.#rest.shift() as Part);
      else return this.#rest.shift();
    }
  }

  // The first document of each quarter of the request is sent alone: that tells an invalid query from invalid documents.
  #probe(): void {
    const { length } = this.request.body.documents;
    this.#probed = [...new Set([0, 1, 2, 3].map((quarter) => Math.floor((quarter * length) / 4)))];
    for (const document of this.#probed) {
      const at = this.#rest.findIndex(({ batch: { offset, count }, some }) =>
        some === undefined
          ? document >= offset && document < offset + count
          : some.texts.some((_, text) => some.places.itemOf(text) === document),
      );
      const found = this.#rest[at];
      if (found === undefined) continue;
      const part = { ...found, some: found.some ?? documentsOf(found.batch, this.#textsOf, this.#isSplit) };
      const { texts, places } = part.some;
      const first = texts.findIndex((_, text) => places.itemOf(text) === document);
      if (texts.length === 1) this.#rest.splice(at, 1);
      else this.#rest[at] = only(part, (text) => text !== first);
      this.#add(only({ ...part, turn: firstOfQuarter }, (text) => text === first));
    }
  }

  #halve(part: Part): void {
    const middle = part.some.texts.length >> 1;
    const halved = { ...part, turn: half, depth: part.depth + 1 };
    if (middle > 0) this.#add(only(halved, (document) => document < middle));
    this.#add(only(halved, (document) => document >= middle));
  }

  // Parts of one turn are sent in the order in which they were added, before whole batches.
  #add(part: Part): void {
    const isLater = ({ some, turn }: Part<BatchDocuments | undefined>): boolean =>
      turn > part.turn || (turn === part.turn && some === undefined);
    const at = this.#rest.findIndex(isLater);
    this.#rest.splice(at < 0 ? this.#rest.length : at, 0, part);
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
    this.#isSearching = false;
    this.#made.add([]);
    this.#done.push({ number, places, ranking, attempts: [], response: undefined });
  }

  #failed(sent: Part, error: StatusError): void {
    this.#made.addFailed(error);
    if (this.#failure !== undefined) return;
    if (!isRejection(error)) {
      this.#fail(error);
      return;
    }
    const { texts, places } = sent.some;
    this.#isSearching = this.#done.length === 0;
    if (texts.length > 1) this.#add({ ...sent, turn: sent.depth > 0 ? rejectedHalf : rejectedBatch });
    else this.#reject(places.itemOf(0), error);
    const isOf = (document: number): boolean => this.#rejected.get(document)?.code === error.code;
    const isQuery = this.#isSearching && this.#probed?.every(isOf);
    if (isQuery || this.#rejected.size === this.request.body.documents.length) this.#fail(error);
  }

  // Other parts of a rejected document are not sent either.
  #reject(item: number, error: StatusError): void {
    if (!this.#rejected.has(item)) {
      const made = new RequestsMade();
      made.addFailed(error);
      this.#rejected.set(item, errorOfBatches(error, made, undefined, item));
    }
    this.#rest = this.#rest.map((rest) => this.#accepted(rest)).filter((rest) => rest !== undefined);
  }

  #accepted(rest: Part<BatchDocuments | undefined>): Part<BatchDocuments | undefined> | undefined {
    const { offset, parts } = rest.batch;
    const { some } = rest;
    if (some === undefined) return parts !== undefined && this.#rejected.has(offset) ? undefined : rest;
    const left = only({ ...rest, some }, (document) => !this.#rejected.has(some.places.itemOf(document)));
    return left.some.texts.length > 0 ? left : undefined;
  }

  #fail(error: StatusError): void {
    this.#failure = error;
    for (const { call } of this.#inFlight.keys()) call?.abort();
  }

  /** The result of the request, once all its batches have one, or it has failed. */
  result(): RerankAllResult<Id> {
    const { id } = this.request;
    const failure = this.#failure;
    try {
      if (failure !== undefined) throw errorOfBatches(failure, this.#made);
      const documents = [...this.#rejected].map(([index, error]): RejectedDocument => ({ index, error }));
      const response = this.#response();
      return documents.length > 0 ? { id, response, rejected: documents } : { id, response };
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
        itemOf: (document) => places.itemOf(at(document)),
        partOf: (document) => places.partOf(at(document)),
      },
    },
  };
}

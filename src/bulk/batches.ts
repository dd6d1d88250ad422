// Requests whose documents are sent in batches: each has one result.
import { refusal, type StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallPromise } from "../options/types.js";
import type { Lane } from "../policy/run.js";
import {
  BatchResults,
  errorOfBatches,
  isRejection,
  mergeRankings,
  type Ranking,
  readRanking,
} from "../ranking/merge.js";
import { type BatchDocument, batchesOf, documentsOf, textsOfItems } from "../ranking/plan.js";
import { WithoutPrototype } from "../values.js";
import type { RejectedDocument, RerankAllResponse, RerankAllResult, RunSettings } from "./options.js";

// The word for what is batched, in error messages.
const list = "documents";
// In which order parts have their turn. A part that was rejected is halved when its turn comes; any other is sent.
const [half, firstOfQuarter, rejectedHalf, rejectedBatch, other] = [0, 1, 2, 3, 4];

/** A request of the source, or a batch of one, that has no result yet. */
export interface PendingRequest<Id> {
  readonly id: Id;
  /** The position of the request in the source, from 0. */
  readonly number: number;
  readonly body: RerankRequest;
  /** Why the request is invalid, if that is known before anything is sent. */
  readonly wrong: StatusError | undefined;
  /** The event of the successful attempt, if the caller passed `onAttempt`. */
  event?: AttemptEvent | undefined;
  /** The call that ranks the request, and its lane, once the call has begun. */
  lane?: Lane | undefined;
  call?: CallPromise<RerankResponse> | undefined;
  /** The request of which this is a batch; undefined for a request that is sent whole. */
  readonly whole?: BatchedRequest<Id> | undefined;
}

/** Documents of a batch that are sent together. */
interface Part {
  /** The number of the batch. */
  readonly number: number;
  readonly documents: readonly BatchDocument[];
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
  // What is left to send, in order.
  #rest: Part[];
  readonly #inFlight: Map<PendingRequest<Id>, Part> = new Map();
  readonly #results: BatchResults<string>;
  readonly #rejected: Map<number, StatusError> = new Map();
  // Whether documents were rejected and none was ranked: the query may be invalid, and one batch is sent at a time.
  #isSearching = false;
  // The first document of each quarter of the request, once these are sent alone to judge the query.
  #probed: readonly number[] | undefined;
  /** Why the request has failed; undefined while it may succeed. */
  error: StatusError | undefined;

  /** @throws StatusError if `split` fails, or if there are more batches than the run may send */
  constructor(whole: PendingRequest<Id>, settings: RunSettings<Id>) {
    const { documents } = whole.body;
    const { batchSize, maxRequests = Number.POSITIVE_INFINITY, split } = settings;
    this.request = whole;
    this.#results = new BatchResults(documents);
    this.#isSplit = split !== undefined;
    const textsOf = textsOfItems(documents, String, split, list);
    const texts = documents.map((_, index) => textsOf(index));
    const partsOf = (index: number): readonly string[] => texts[index] as readonly string[];
    const all = [{ offset: 0, count: documents.length }];
    const { batches } = batchesOf(all, partsOf, { batchSize, maxBatchBytes: undefined }, whole.body);
    // A request that no run can finish is not begun: its batches would be paid for at each start.
    if (batches.length > maxRequests)
      throw refusal(
        "OUT_OF_RANGE",
        "maxRequests",
        `The request needs ${batches.length} HTTP requests (batchSize), and maxRequests is ${maxRequests}.`,
      );
    this.#rest = batches.map((batch, number) => {
      return { number, documents: documentsOf(batch, partsOf, this.#isSplit), depth: 0, turn: other };
    });
  }

  /** How many of its batches were ranked, and so paid for. */
  get ranked(): number {
    return this.#results.batches.length;
  }

  /** The next batch to send; undefined if none is left, or if it waits for another batch's result. */
  next(): PendingRequest<Id> | undefined {
    if (this.error !== undefined || (this.#isSearching && this.#inFlight.size > 0)) return undefined;
    const part = this.#turn();
    if (part === undefined) return undefined;
    const documents = part.documents.map(({ text }) => text);
    // The service need not send the documents back: the caller has them.
    const own = { documents, top_n: undefined, return_documents: false };
    const body = Object.assign(new WithoutPrototype(), this.request.body, own);
    const pending = { ...this.request, body, whole: this };
    this.#inFlight.set(pending, part);
    return pending;
  }

  #turn(): Part | undefined {
    for (;;) {
      const turn = this.#rest[0]?.turn;
      // The first batch, and each half of it, were rejected.
      const isUndecided = this.#isSearching && (turn === rejectedHalf || turn === other);
      if (isUndecided && this.#probed === undefined) this.#probe();
      else if (turn === rejectedHalf || turn === rejectedBatch) {
        const part = this.#rest.shift() as Part;
        const middle = part.documents.length >> 1;
        for (const documents of [part.documents.slice(0, middle), part.documents.slice(middle)])
          if (documents.length > 0) this.#add({ ...part, documents, turn: half, depth: part.depth + 1 });
      } else return this.#rest.shift();
    }
  }

  // The first document of each quarter of the request is sent alone: that tells an invalid query from invalid documents.
  #probe(): void {
    const { length } = this.request.body.documents;
    this.#probed = [...new Set([0, 1, 2, 3].map((quarter) => Math.floor((quarter * length) / 4)))];
    for (const item of this.#probed) {
      const part = this.#rest.find(({ documents }) => documents.some((each) => each.item === item));
      const first = part?.documents.find((each) => each.item === item);
      if (part === undefined || first === undefined) continue;
      this.#keep((document) => document !== first);
      this.#add({ ...part, documents: [first], turn: firstOfQuarter });
    }
  }

  // Parts of one turn are sent in the order in which they were added.
  #add(part: Part): void {
    const at = this.#rest.findIndex(({ turn }) => turn > part.turn);
    this.#rest.splice(at < 0 ? this.#rest.length : at, 0, part);
  }

  #keep(isKept: (document: BatchDocument) => boolean): void {
    const kept = this.#rest.map((part) => ({ ...part, documents: part.documents.filter(isKept) }));
    this.#rest = kept.filter(({ documents }) => documents.length > 0);
  }

  /** Takes the result of a batch. @returns The result of the request, if this was its last batch */
  settled(batch: PendingRequest<Id>, result: RerankAllResult<Id>): RerankAllResult<Id> | undefined {
    const sent = this.#inFlight.get(batch) as Part;
    this.#inFlight.delete(batch);
    // An own property: Object.prototype may have an `error`.
    if (Object.hasOwn(result, "error")) this.#failed(sent, result.error as StatusError);
    else {
      // The run has checked the response, so this is a ranking.
      const ranking = readRanking(result.response as RerankResponse, sent.documents) as Ranking;
      this.#isSearching = false;
      this.#results.ranked({ number: sent.number, ranking, attempts: [], response: undefined });
    }
    const isOver = this.#rest.length === 0 || this.error !== undefined;
    return isOver && this.#inFlight.size === 0 ? this.result() : undefined;
  }

  #failed(sent: Part, error: StatusError): void {
    this.#results.failed(error);
    if (this.error !== undefined) return;
    if (!isRejection(error)) {
      this.#fail(error);
      return;
    }
    const [only, ...others] = sent.documents as [BatchDocument];
    this.#isSearching = this.#results.batches.length === 0;
    if (others.length > 0) this.#add({ ...sent, turn: sent.depth > 0 ? rejectedHalf : rejectedBatch });
    else {
      const { item } = only;
      if (!this.#rejected.has(item))
        this.#rejected.set(item, errorOfBatches(error, { ...error, ran: error }, undefined, item));
      // Other parts of a rejected document are not sent either.
      if (this.#isSplit) this.#keep((document) => document.item !== item);
    }
    const isOf = (document: number): boolean => this.#rejected.get(document)?.code === error.code;
    const isQuery = this.#isSearching && this.#probed?.every(isOf);
    if (isQuery || this.#rejected.size === this.request.body.documents.length) this.#fail(error);
  }

  #fail(error: StatusError): void {
    this.error = error;
    for (const { lane } of this.#inFlight.keys()) lane?.abort();
  }

  /** The result of the request, once all its batches have one, or it has failed. */
  result(): RerankAllResult<Id> {
    const { id } = this.request;
    const failure = this.error;
    try {
      if (failure !== undefined) throw errorOfBatches(failure, this.#results);
      const { top_n, return_documents } = this.request.body;
      const { model, usage, data: merged } = mergeRankings(this.#results, undefined);
      const ranked = merged.filter(({ index }) => !this.#rejected.has(index)).slice(0, top_n);
      const data = ranked.map(({ item: document, index, score: relevance_score, part }) => ({
        ...{ index, relevance_score },
        ...(return_documents === false ? {} : { document }),
        ...(this.#isSplit ? { part } : {}),
      }));
      const response: RerankAllResponse = { object: "list", model: model as string, data, usage };
      const rejected = [...this.#rejected].map(([index, error]): RejectedDocument => ({ index, error }));
      return rejected.length > 0 ? { id, response, rejected } : { id, response };
    } catch (error) {
      return { id, error: error as StatusError };
    }
  }
}

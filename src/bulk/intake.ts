import { invalid, isStatusError } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import { valueOr, WithoutPrototype } from "../values.js";
import { BatchedRequest, type PendingRequest } from "./batches.js";
import type { RerankAllRequest, RunSettings } from "./options.js";

// All fields but `id` are the body. A field that is null counts as missing, because data tools write it so. Lists are
// copied, because the source may use them again for its next request.
function pendingOf<Id>(request: RerankAllRequest<Id>, number: number): PendingRequest<Id> {
  const fields = typeof request === "object" && request !== null ? request : ({} as RerankAllRequest<Id>);
  const body = new WithoutPrototype() as RerankRequest & Record<string, unknown>;
  // The fields are copied one by one: destructuring with a rest element costs twice as much.
  for (const name of Object.keys(fields)) {
    const value = fields[name as keyof typeof fields];
    if (name !== "id" && value !== null)
      body[name] = Array.isArray(value) ? valueOr(() => [...value], value) : value;
  }
  const wrong = Object.hasOwn(fields, "id")
    ? undefined
    : invalid(`requests[${number}].id`, `requests[${number}] has no id.`);
  return { id: fields.id, number, body, wrong };
}

/** Takes requests from the source, and batches from those that are sent in batches. */
export class Intake<Id> {
  /** The requests in batches that have no result yet. */
  readonly inBatches: Set<BatchedRequest<Id>> = new Set();
  isDry = false;
  /** The error of the source, or of reading one of its requests, after which no more requests come. */
  failed: { readonly error: unknown } | undefined;
  readonly #source: Source<RerankAllRequest<Id>>;
  readonly #settings: RunSettings<Id>;
  // The run goes on when an async source's promise settles. An object, as V8 would compile a callback anew for each run.
  readonly #run: { advance(): void };
  #iterator: ReturnType<Source<RerankAllRequest<Id>>> | undefined;
  /** Requests that can be sent now: this machine had no socket for them, or an async source returned them. */
  readonly ready: PendingRequest<Id>[] = [];
  #isPulling = false;
  #isClosed = false;
  #taken = 0;

  constructor(source: Source<RerankAllRequest<Id>>, settings: RunSettings<Id>, run: { advance(): void }) {
    this.#source = source;
    this.#settings = settings;
    this.#run = run;
  }

  /** The next request to send: one that is ready, else, if there is room, a batch, or one from the source. */
  next(hasRoom: boolean): PendingRequest<Id> | undefined {
    if (this.ready.length > 0) return this.ready.shift();
    if (!hasRoom) return undefined;
    const batch = this.inBatches.size > 0 ? this.#nextBatch() : undefined;
    return batch ?? (this.isDry || this.#isPulling ? undefined : this.#pull());
  }

  #nextBatch(): PendingRequest<Id> | undefined {
    for (const whole of this.inBatches) {
      const batch = whole.next();
      if (batch !== undefined) return batch;
    }
    return undefined;
  }

  /** Creates the source's iterator. */
  open(): void {
    try {
      this.#iterator = this.#source();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reads no more requests, and closes the source. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.isDry) return;
    this.isDry = true;
    const closed = this.#closeSource();
    // A generator first finishes the `next` that is in progress, which may never settle: do not wait for it.
    if (this.#isPulling) closed.catch(() => {});
    else await closed;
  }

  async #closeSource(): Promise<void> {
    await this.#iterator?.return?.();
  }

  #pull(): PendingRequest<Id> | undefined {
    try {
      const next = (this.#iterator as Iterator<RerankAllRequest<Id>>).next();
      if (typeof (next as Partial<PromiseLike<unknown>> | undefined)?.then !== "function")
        return this.#take(next);
      this.#isPulling = true;
      // Promise.resolve guards against a thenable that is not a promise: it may throw, or call back twice.
      Promise.resolve(next).then(
        (result) => this.#pulled(() => this.#take(result)),
        (error) => this.#pulled(() => this.#fail(error)),
      );
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  #pulled(take: () => PendingRequest<Id> | undefined): void {
    this.#isPulling = false;
    if (this.#isClosed) return;
    try {
      const pending = take();
      if (pending) this.ready.push(pending);
    } catch (error) {
      this.#fail(error);
    }
    this.#run.advance();
  }

  #take(result: IteratorResult<RerankAllRequest<Id>>): PendingRequest<Id> | undefined {
    if (Object(result) !== result)
      throw new TypeError(`next() of requests came to ${String(result)}, which is no { done, value }.`);
    this.isDry ||= Boolean(result.done);
    if (this.isDry) return undefined;
    const { value } = result;
    try {
      const request = pendingOf<Id>(value, this.#taken++);
      const { batchSize, split } = this.#settings;
      const { documents, top_n } = request.body;
      // A request without a list of documents and a valid top_n is passed on whole, and the client rejects it.
      const isDivisible =
        (batchSize ?? split) !== undefined &&
        Array.isArray(documents) &&
        documents.length > 0 &&
        documents.every((document) => typeof document === "string") &&
        (top_n === undefined || (Number.isSafeInteger(top_n) && top_n > 0));
      if (request.wrong !== undefined || !isDivisible) return request;
      try {
        this.inBatches.add(new BatchedRequest(request, this.#settings));
      } catch (error) {
        if (!isStatusError(error)) throw error;
        return { ...request, wrong: error };
      }
      return this.#nextBatch();
    } catch (error) {
      // Reading the request failed, but the source still works: close it. An error of closing it is ignored.
      this.#closeSource().catch(() => {});
      return this.#fail(error);
    }
  }

  #fail(error: unknown): undefined {
    this.isDry = true;
    this.failed = { error };
  }
}

/** Creates the iterator of what a run reads its requests from. */
export type Source<T> = () => Iterator<T> | AsyncIterator<T>;

/** The {@link Source} of an iterable or async iterable. @throws StatusError when `iterable` is neither */
export function sourceOf<T>(iterable: Iterable<T> | AsyncIterable<T>): Source<T> {
  const given: Partial<Iterable<T> & AsyncIterable<T>> = (typeof iterable === "object" && iterable) || {};
  const { [Symbol.asyncIterator]: ofAsync } = given;
  const open = (typeof ofAsync === "function" ? ofAsync : given[Symbol.iterator]) as Source<T> | undefined;
  if (typeof open !== "function")
    throw invalid("requests", "requests must be an iterable or an async iterable.");
  return () => open.call(given);
}

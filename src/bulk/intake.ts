import type { Failure } from "../errors/failure.js";
import { invalid, type StatusError } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import type { AttemptEvent } from "../options/types.js";
import { addTo, valueOr, WithoutPrototype } from "../values.js";
import type { RerankAllRequest, RerankAllResult } from "./options.js";

/** A request that is sent in batches. Its batches are requests of the run, and have one result together. */
export interface RequestInBatches<Id> {
  readonly request: PendingRequest<Id>;
  /** Why the request has failed; undefined while it may succeed. */
  readonly error: StatusError | undefined;
  /** How many of its batches were ranked, and so paid for. */
  readonly ranked: number;
  /** The next batch to send; undefined if none is left, or if it waits for another batch's result. */
  next(): PendingRequest<Id> | undefined;
  /** Takes the result of a batch. @returns The result of the request, if this was its last batch */
  settled(batch: PendingRequest<Id>, result: RerankAllResult<Id>): RerankAllResult<Id> | undefined;
  /** The result of the request, once all its batches have one, or it has failed. */
  result(): RerankAllResult<Id>;
}

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
  readonly whole: RequestInBatches<Id> | undefined;
}

// The field `id` is not sent; all others are the body. Null is not given: data tools write it for what is missing. A list
// is copied: the source may use it again for the next request.
function pendingOf<Id>(request: RerankAllRequest<Id>, number: number): PendingRequest<Id> {
  const fields = typeof request === "object" && request !== null ? request : ({} as RerankAllRequest<Id>);
  const body = new WithoutPrototype() as RerankRequest & Record<string, unknown>;
  // The fields are copied one by one: destructuring with a rest element costs twice as much.
  for (const name of Object.keys(fields)) {
    const value = fields[name as keyof typeof fields];
    if (name !== "id" && value !== null)
      body[name] = Array.isArray(value) ? valueOr(() => [...value], value) : value;
  }
  const wrong = Object.hasOwn(fields, "id") ? undefined : invalid(`requests[${number}] has no id.`);
  return { id: fields.id, number, at: 0, body, wrong, event: undefined, call: undefined, whole: undefined };
}

/** The run that an {@link Intake} reads for. Methods, not closures: V8 would compile each run's closures again. */
interface IntakeRun<Id> {
  /** Turns a request into batches, if it is sent in batches. */
  batched(request: PendingRequest<Id>): PendingRequest<Id> | RequestInBatches<Id>;
  /** Called when a promise of an async source has settled. */
  arrived(): void;
}

/** The requests that were taken from the source and have no result yet. */
export class Intake<Id> {
  /** The requests, and batches of requests, that were begun or can begin. */
  readonly pending: PendingRequest<Id>[] = [undefined as never];
  /** The requests in batches that have no result yet. */
  readonly inBatches: Set<RequestInBatches<Id>> = new Set();
  isDry: boolean;
  /** The error of the source, or of reading one of its requests, after which no more requests come. */
  failed: { readonly error: unknown } | undefined;
  readonly #source: Source<RerankAllRequest<Id>>;
  readonly #run: IntakeRun<Id>;
  /** Requests that can be sent now: they were put back, or an async source returned them. */
  readonly #ready: PendingRequest<Id>[] = [];
  #isPulling = false;
  #isClosed = false;
  #taken = 0;

  constructor(source: Source<RerankAllRequest<Id>>, run: IntakeRun<Id>) {
    this.#source = source;
    this.#run = run;
    // Assigned a second time: V8 takes a field that is assigned once for a constant, and compiles again if it changes.
    this.isDry = false;
    // V8 gives a list that never held an object another shape, for which it would compile a run's code again.
    this.pending.pop();
  }

  /** Whether all requests of the source have a result. */
  get isDone(): boolean {
    // Not one `&&` after another: V8 throws compiled code away when it reaches a part that was never evaluated.
    const { isDry, pending, inBatches } = this;
    return isDry && pending.length + inBatches.size === 0;
  }

  /** The ids of the requests that have no result yet. */
  get notDone(): Id[] {
    const whole = this.pending.filter((each) => each.whole === undefined);
    const inBatches = [...this.inBatches].map(({ request }) => request);
    return [...whole.sort((a, b) => a.number - b.number), ...inBatches].map(({ id }) => id);
  }

  /** How many batches were ranked of requests that have no result. */
  get batchesLost(): number {
    return [...this.inBatches].reduce((sum, { ranked }) => sum + ranked, 0);
  }

  /** The next request to send: one that is ready, else, if there is room, a batch, or one from the source. */
  next(hasRoom: boolean): PendingRequest<Id> | undefined {
    if (this.#ready.length > 0) return this.#ready.shift();
    if (!hasRoom) return undefined;
    const batch = this.inBatches.size > 0 ? this.#nextBatch() : undefined;
    return batch ?? (this.isDry || this.#isPulling ? undefined : this.#pull());
  }

  #nextBatch(): PendingRequest<Id> | undefined {
    for (const whole of this.inBatches) {
      const batch = whole.next();
      if (batch !== undefined) return this.#begin(batch);
    }
    return undefined;
  }

  #begin(request: PendingRequest<Id>): PendingRequest<Id> {
    addTo(this.pending, request);
    return request;
  }

  /** Creates the source's iterator. If that fails, no request comes. */
  open(): void {
    try {
      this.#source.open();
    } catch (error) {
      this.#fail(error);
    }
  }

  putBack(pending: PendingRequest<Id>): void {
    this.#ready.push(pending);
  }

  /** Reads no more requests, and closes the source. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.isDry) return;
    this.isDry = true;
    const closed = this.#source.close();
    // A generator first finishes the `next` that is in progress, which may never settle: do not wait for it.
    if (this.#isPulling) closed.catch(() => {});
    else await closed;
  }

  #pull(): PendingRequest<Id> | undefined {
    try {
      const next = this.#source.next();
      if (!isPromise(next)) return this.#take(next);
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
      if (pending) this.#ready.push(pending);
    } catch (error) {
      this.#fail(error);
    }
    this.#run.arrived();
  }

  #take(result: IteratorResult<RerankAllRequest<Id>>): PendingRequest<Id> | undefined {
    if (Object(result) !== result)
      throw new TypeError(`next() of requests came to ${String(result)}, which is no { done, value }.`);
    this.isDry ||= Boolean(result.done);
    if (this.isDry) return undefined;
    const { value } = result;
    try {
      const request = this.#run.batched(pendingOf(value, this.#taken++));
      if (!isInBatches(request)) return this.#begin(request);
      this.inBatches.add(request);
      return this.#nextBatch();
    } catch (error) {
      // Reading the request failed, but the source still works: close it. An error of closing it is ignored.
      this.#source.close().catch(() => {});
      return this.#fail(error);
    }
  }

  #fail(error: unknown): undefined {
    this.isDry = true;
    this.failed = { error };
  }
}

// An own property: Object.prototype may have a `number`.
function isInBatches<Id>(
  request: PendingRequest<Id> | RequestInBatches<Id>,
): request is RequestInBatches<Id> {
  return !Object.hasOwn(request, "number");
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined | null)?.then === "function";
}

/** An iterable or async iterable whose iterator is created by `open`, before the first `next`. */
export class Source<T> {
  readonly #iterable: Partial<Iterable<T> & AsyncIterable<T>>;
  readonly #open: () => Iterator<T> | AsyncIterator<T>;
  #iterator: Iterator<T> | AsyncIterator<T> | undefined;

  /** @throws StatusError when `iterable` is neither an iterable nor an async iterable */
  constructor(iterable: Iterable<T> | AsyncIterable<T>) {
    this.#iterable = (typeof iterable === "object" && iterable) || {};
    const { [Symbol.asyncIterator]: ofAsync } = this.#iterable;
    const open = typeof ofAsync === "function" ? ofAsync : this.#iterable[Symbol.iterator];
    if (typeof open !== "function") throw invalid("requests must be an iterable or an async iterable.");
    this.#open = open;
  }

  /** Creates the iterator. */
  open(): void {
    this.#iterator = this.#open.call(this.#iterable);
  }

  next(): IteratorResult<T> | Promise<IteratorResult<T>> {
    return (this.#iterator as Iterator<T>).next();
  }

  /** Calls the iterator's `return`, if it has one. */
  async close(): Promise<void> {
    await this.#iterator?.return?.();
  }
}

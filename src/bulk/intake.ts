import { invalid, type StatusError } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import type { AttemptEvent } from "../options/types.js";
import { WithoutPrototype } from "../values.js";
import type { RerankAllRequest } from "./options.js";

/** A request that was taken from the source and has no result yet. */
export interface PendingRequest<Id> {
  readonly id: Id;
  /** Its place in the source, from 0. */
  readonly number: number;
  readonly body: RerankRequest;
  /** What is wrong with it, when that is known without asking. */
  readonly wrong: StatusError | undefined;
  /** The event of the attempt that was answered, when somebody listens. */
  event: AttemptEvent | undefined;
  /** Its call, once it has begun. */
  call: { abort(): void } | undefined;
}

// Its id stays here, all other fields are the body.
function pendingOf<Id>(request: RerankAllRequest<Id>, number: number): PendingRequest<Id> {
  const fields = typeof request === "object" && request !== null ? request : ({} as RerankAllRequest<Id>);
  const body = new WithoutPrototype() as RerankRequest & Record<string, unknown>;
  // Field by field: to take "the rest" costs twice as much.
  for (const name of Object.keys(fields))
    if (name !== "id") body[name] = fields[name as keyof RerankAllRequest<Id>];
  const wrong = Object.hasOwn(fields, "id") ? undefined : invalid(`requests[${number}] has no id.`);
  return { id: fields.id, number, body, wrong, event: undefined, call: undefined };
}

/** The requests that were taken from the source and have no result yet. */
export class Intake<Id> {
  readonly pending: Set<PendingRequest<Id>> = new Set();
  isDry: boolean;
  /** Why no more requests come. */
  failed: { readonly error: unknown } | undefined;
  readonly #source: Source<RerankAllRequest<Id>>;
  readonly #arrived: () => void;
  /** Those that can be sent. */
  readonly #ready: PendingRequest<Id>[] = [];
  #isPulling = false;
  #isClosed = false;
  #taken = 0;

  /** @param arrived Called when a source that answers later has answered */
  constructor(source: Source<RerankAllRequest<Id>>, arrived: () => void) {
    this.#source = source;
    // Assigned twice, undefined first: V8 takes a field that is assigned once for a constant, and compiles again when it changes.
    this.isDry = false;
    this.#arrived = arrived;
  }

  /** The next request to send: one that was put back or came late, else, if there is room, one from the source. */
  next(hasRoom: boolean): PendingRequest<Id> | undefined {
    if (this.#ready.length > 0) return this.#ready.shift();
    return hasRoom && !this.isDry && !this.#isPulling ? this.#pull() : undefined;
  }

  putBack(pending: PendingRequest<Id>): void {
    this.#ready.push(pending);
  }

  /** Takes nothing more, and says so to the source. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.isDry) return;
    this.isDry = true;
    const closed = this.#source.close();
    // A generator ends its current step first, which may never come.
    if (this.#isPulling) closed.catch(() => {});
    else await closed;
  }

  #pull(): PendingRequest<Id> | undefined {
    try {
      const next = this.#source.next();
      if (!isPromise(next)) return this.#take(next);
      this.#isPulling = true;
      // A thenable that is no promise may throw, or call back twice.
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
    this.#arrived();
  }

  #take(result: IteratorResult<RerankAllRequest<Id>>): PendingRequest<Id> | undefined {
    if (Object(result) !== result)
      throw new TypeError(`next() of requests came to ${String(result)}, which is no { done, value }.`);
    if (result.done) {
      this.isDry = true;
      return undefined;
    }
    const { value } = result;
    let pending: PendingRequest<Id>;
    try {
      pending = pendingOf(value, this.#taken++);
    } catch (error) {
      // The source works: it is told that no more is wanted. What it says to that comes too late.
      this.#source.close().catch(() => {});
      return this.#fail(error);
    }
    this.pending.add(pending);
    return pending;
  }

  #fail(error: unknown): undefined {
    this.isDry = true;
    this.failed = { error };
  }
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined | null)?.then === "function";
}

/** An iterable, or an async one, that is opened when its first element is asked for. */
export class Source<T> {
  readonly #iterable: Partial<Iterable<T> & AsyncIterable<T>>;
  readonly #open: () => Iterator<T> | AsyncIterator<T>;
  #iterator: Iterator<T> | AsyncIterator<T> | undefined;

  /** @throws StatusError for anything else */
  constructor(iterable: Iterable<T> | AsyncIterable<T>) {
    this.#iterable = (typeof iterable === "object" && iterable) || {};
    const { [Symbol.asyncIterator]: ofAsync } = this.#iterable;
    const open = typeof ofAsync === "function" ? ofAsync : this.#iterable[Symbol.iterator];
    if (typeof open !== "function") throw invalid("requests must be an iterable or an async iterable.");
    this.#open = open;
  }

  next(): IteratorResult<T> | Promise<IteratorResult<T>> {
    this.#iterator ??= this.#open.call(this.#iterable);
    return this.#iterator.next();
  }

  /** Tells an iterator that nothing more is wanted of it. */
  async close(): Promise<void> {
    await this.#iterator?.return?.();
  }
}

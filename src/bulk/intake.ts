import type { Failed } from "./delivery.js";
import { type Held, hold } from "./held.js";
import type { RerankAllRequest } from "./options.js";
import type { Source } from "./source.js";

/** The requests that were taken from the source and have no result yet. */
export class Intake<Id> {
  /** All of them. */
  readonly held: Set<Held<Id>> = new Set();
  /** Whether the source has no more. */
  isDry = false;
  /** How the source failed. */
  failed: Failed | undefined;
  readonly #source: Source<RerankAllRequest<Id>>;
  readonly #arrived: () => void;
  /** Those that wait to be sent, in the order in which they began to. */
  #waiting: Held<Id>[] = [];
  #isPulling = false;
  #isClosed = false;
  #taken = 0;

  /** @param arrived Called when a source that answers later has answered */
  constructor(source: Source<RerankAllRequest<Id>>, arrived: () => void) {
    this.#source = source;
    this.#arrived = arrived;
  }

  /** The next request to send: one that has waited, else, if there is room, one from the source. */
  next(now: number, hasRoom: boolean): Held<Id> | undefined {
    const index = this.#waiting.findIndex(({ readyAt }) => readyAt <= now);
    if (index >= 0) return this.#waiting.splice(index, 1)[0];
    return hasRoom && !this.isDry && !this.#isPulling ? this.#pull() : undefined;
  }

  /** Puts a request back that is to be sent later. */
  putBack(held: Held<Id>): void {
    this.#waiting.push(held);
  }

  /** Takes out those whose time ran out while they waited. */
  takeLate(now: number): readonly Held<Id>[] {
    if (this.#waiting.length === 0) return this.#waiting;
    const late = this.#waiting.filter(({ endsAt }) => endsAt <= now);
    if (late.length > 0) this.#waiting = this.#waiting.filter(({ endsAt }) => endsAt > now);
    return late;
  }

  /** When there is something to do. @param heldUntil When anything may be sent again */
  wakesAt(now: number, heldUntil: number): number {
    let at = heldUntil > now ? heldUntil : Number.POSITIVE_INFINITY;
    for (const { readyAt, endsAt } of this.#waiting) at = Math.min(at, Math.max(readyAt, heldUntil), endsAt);
    return at;
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

  #pull(): Held<Id> | undefined {
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

  #pulled(take: () => Held<Id> | undefined): void {
    this.#isPulling = false;
    if (this.#isClosed) return;
    try {
      const held = take();
      if (held) this.#waiting.push(held);
    } catch (error) {
      this.#fail(error);
    }
    this.#arrived();
  }

  #take(result: IteratorResult<RerankAllRequest<Id>>): Held<Id> | undefined {
    if (Object(result) !== result)
      throw new TypeError(`next() of requests came to ${String(result)}, which is no { done, value }.`);
    if (result.done) {
      this.isDry = true;
      return undefined;
    }
    const { value } = result;
    let held: Held<Id>;
    try {
      held = hold(value, this.#taken++);
    } catch (error) {
      // The source works: it is told that no more is wanted. What it says to that comes too late.
      this.#source.close().catch(() => {});
      return this.#fail(error);
    }
    this.held.add(held);
    return held;
  }

  #fail(error: unknown): undefined {
    this.isDry = true;
    this.failed = { error };
  }
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined | null)?.then === "function";
}

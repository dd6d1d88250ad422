interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/** Why no more results come. */
export interface Failed {
  readonly error: unknown;
}

const over = { done: true, value: undefined } as const;

/** Hands results to those who ask for them; what was finished is handed out before a failure. */
export class Delivery<T> {
  readonly #outbox: Outbox<T>;
  readonly #waiters: Waiter<T>[] = [];
  #isOver = false;
  #failed: Failed | undefined;

  constructor(outbox: Outbox<T>) {
    this.#outbox = outbox;
  }

  /** Results that nobody has asked for. */
  get size(): number {
    return this.#outbox.size;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#handOut();
    });
  }

  add(number: number, result: T): void {
    this.#outbox.add(number, result);
    this.#handOut();
  }

  finish(failed: Failed | undefined): void {
    this.#isOver = true;
    this.#failed = failed;
    this.#handOut();
  }

  /** The same, and nobody wants those that are there. */
  discard(): void {
    this.finish(undefined);
    while (this.#outbox.take(true) !== undefined);
  }

  #handOut(): void {
    while (this.#waiters.length > 0) {
      const value = this.#outbox.take(this.#isOver);
      if (value === undefined && !this.#isOver) return;
      const waiter = this.#waiters.shift();
      if (value !== undefined) waiter?.resolve({ done: false, value });
      else this.#tellEnd(waiter);
    }
  }

  // The failure is thrown once; then it is over.
  #tellEnd(waiter: Waiter<T> | undefined): void {
    if (this.#failed === undefined) waiter?.resolve(over);
    else waiter?.reject(this.#failed.error);
    this.#failed = undefined;
  }
}
/** Results on their way out: as they come, or in the order of their numbers. */
interface Outbox<T> {
  readonly size: number;
  add(number: number, result: T): void;
  /** The next result; undefined while there is none. @param last Whether those before it will never come */
  take(last: boolean): T | undefined;
}

export function asTheyCome<T>(): Outbox<T> {
  let first = 0;
  let results: T[] = [];
  return {
    get size() {
      return results.length - first;
    },
    add: (_number, result) => void results.push(result),
    take() {
      if (first === results.length) return undefined;
      const result = results[first] as T;
      first += 1;
      // Taking from the front of a list moves all the others.
      if (first === results.length || first === 1024) {
        results = results.slice(first);
        first = 0;
      }
      return result;
    },
  };
}

/** Hands results out by their numbers, from 0 on. */
export function inOrder<T>(): Outbox<T> {
  const results = new Map<number, T>();
  let next = 0;
  return {
    get size() {
      return results.size;
    },
    add: (number, result) => void results.set(number, result),
    take(last) {
      if (last && results.size > 0 && !results.has(next)) next = Math.min(...results.keys());
      const result = results.get(next);
      if (result !== undefined) results.delete(next++);
      return result;
    },
  };
}

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
  #isOver: boolean;
  #failed: Failed | undefined;

  constructor(outbox: Outbox<T>) {
    this.#outbox = outbox;
    // Assigned twice, undefined first: V8 takes a field that is assigned once for a constant, and compiles again when it changes.
    this.#isOver = false;
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

interface Entry<T> {
  readonly result: T;
  next: Entry<T> | undefined;
}

// A linked list: taking from the front of an array moves all the others.
export class AsTheyCome<T> implements Outbox<T> {
  size = 0;
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;

  add(_number: number, result: T): void {
    const entry = { result, next: undefined };
    if (this.#last) this.#last.next = entry;
    else this.#first = entry;
    this.#last = entry;
    this.size += 1;
  }

  take(): T | undefined {
    const entry = this.#first;
    if (entry === undefined) return undefined;
    this.#first = entry.next;
    if (entry.next === undefined) this.#last = undefined;
    this.size -= 1;
    return entry.result;
  }
}

/** Hands results out by their numbers, from 0 on. */
export class InOrder<T> implements Outbox<T> {
  readonly #results: Map<number, T> = new Map();
  #next = 0;

  get size(): number {
    return this.#results.size;
  }

  add(number: number, result: T): void {
    this.#results.set(number, result);
  }

  take(last: boolean): T | undefined {
    const results = this.#results;
    if (last && results.size > 0 && !results.has(this.#next)) this.#next = Math.min(...results.keys());
    const result = results.get(this.#next);
    if (result !== undefined) results.delete(this.#next++);
    return result;
  }
}

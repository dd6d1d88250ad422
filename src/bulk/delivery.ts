/** Hands results to those who ask for them, as they come or in the order of their numbers. */
export class Delivery<T> {
  readonly #ordered: boolean;
  // By their places in what is handed out, from 0 on.
  readonly #results: Map<number, T> = new Map();
  readonly #receivers: {
    resolve(result: IteratorResult<T, undefined>): void;
    reject(error: unknown): void;
  }[] = [];
  #added = 0;
  #next = 0;
  #isOver: boolean;
  #failed: { readonly error: unknown } | undefined;

  constructor(ordered: boolean) {
    this.#ordered = ordered;
    // Assigned twice, undefined first: V8 takes a field that is assigned once for a constant, and compiles again when it changes.
    this.#isOver = false;
  }

  /** Results that nobody has asked for. */
  get size(): number {
    return this.#results.size;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#receivers.push({ resolve, reject });
      this.#handOut();
    });
  }

  /** @param number Its place among all requests, from 0. */
  add(number: number, result: T): void {
    this.#results.set(this.#ordered ? number : this.#added++, result);
    this.#handOut();
  }

  /** No more results come; what was finished is handed out before a failure. */
  finish(failed: { readonly error: unknown } | undefined): void {
    this.#isOver = true;
    this.#failed = failed;
    this.#handOut();
  }

  /** The same, and nobody wants those that are there. */
  discard(): void {
    this.finish(undefined);
    this.#results.clear();
  }

  #handOut(): void {
    while (this.#receivers.length > 0) {
      const value = this.#take();
      if (value === undefined && !this.#isOver) return;
      const receiver = this.#receivers.shift();
      const failed = this.#failed;
      if (value !== undefined) receiver?.resolve({ done: false, value });
      else if (failed === undefined) receiver?.resolve({ done: true, value: undefined });
      else {
        // It is thrown once; then it is over.
        this.#failed = undefined;
        receiver?.reject(failed.error);
      }
    }
  }

  #take(): T | undefined {
    const results = this.#results;
    // Those before the ones that are there will never come.
    if (this.#isOver && results.size > 0 && !results.has(this.#next))
      this.#next = Math.min(...results.keys());
    const result = results.get(this.#next);
    if (result !== undefined) results.delete(this.#next++);
    return result;
  }
}

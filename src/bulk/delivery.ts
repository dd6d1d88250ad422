/** Gives each call of `next` one result: in the order in which results settle, or in the order of the requests. */
export class Delivery<T> {
  readonly #ordered: boolean;
  // The results that no `next` has taken, by their position in the output, from 0.
  readonly #results: Map<number, T> = new Map();
  readonly #receivers: [
    resolve: (result: IteratorResult<T, undefined>) => void,
    reject: (error: unknown) => void,
  ][] = [];
  #added = 0;
  #next = 0;
  #isOver = false;
  #failed: { readonly error: unknown } | undefined;

  constructor(ordered: boolean) {
    this.#ordered = ordered;
  }

  /** How many results are ready that no `next` has taken. */
  get size(): number {
    return this.#results.size;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#receivers.push([resolve, reject]);
      if (this.#results.size > 0 || this.#isOver) this.#handOut();
    });
  }

  /** @param number The position of the result's request among all requests, from 0. */
  add(number: number, result: T): void {
    // Without `ordered`, a call of `next` waits only while no result is ready: the first that waits gets this result.
    const [resolve] = (this.#ordered ? undefined : this.#receivers.shift()) ?? [];
    if (resolve !== undefined) resolve({ done: false, value: result });
    else {
      this.#results.set(this.#ordered ? number : this.#added++, result);
      if (this.#ordered) this.#handOut();
    }
  }

  /** No more results come. Those that are ready are handed out first, then `next` rejects with the failure, if any. */
  finish(failed: { readonly error: unknown } | undefined): void {
    this.#isOver = true;
    this.#failed = failed;
    this.#handOut();
  }

  /** No more results come, and the results that are ready are thrown away. */
  discard(): void {
    this.finish(undefined);
    this.#results.clear();
  }

  #handOut(): void {
    while (this.#receivers.length > 0) {
      const value = this.#take();
      if (value === undefined && !this.#isOver) return;
      const [resolve, reject] = this.#receivers.shift() ?? [];
      const failed = this.#failed;
      if (value !== undefined) resolve?.({ done: false, value });
      else {
        // Only one `next` rejects with the failure; each later one resolves to `done`.
        this.#failed = undefined;
        if (failed === undefined) resolve?.({ done: true, value: undefined });
        else reject?.(failed.error);
      }
    }
  }

  #take(): T | undefined {
    const results = this.#results;
    // The run is over: results that are missing before the first ready one will never come.
    if (this.#isOver && results.size > 0 && !results.has(this.#next))
      this.#next = Math.min(...results.keys());
    const result = results.get(this.#next);
    if (result !== undefined) results.delete(this.#next++);
    return result;
  }
}

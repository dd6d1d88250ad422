import type { RerankAllCounts, RerankAllResult, RerankAllResults } from "./options.js";
import type { Run } from "./run.js";

class Results<Id> implements AsyncIterableIterator<RerankAllResult<Id>, undefined> {
  readonly #run: Run<Id>;

  constructor(run: Run<Id>) {
    this.#run = run;
  }

  static stopSending(results: RerankAllResults<never>): void {
    if (results instanceof Results) results.#run.stopSending();
  }

  get counts(): RerankAllCounts {
    return this.#run.counts;
  }

  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>> {
    return this.#run.next();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#run.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<never> {
    // The caller's error matters more than an error of closing the source.
    await this.#run.close().catch(() => {});
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  // Older browsers have no Symbol.asyncDispose, and no `await using` either: there, this name is never used.
  [Symbol.asyncDispose ?? "asyncDispose"](): Promise<void> {
    return this.#run.close();
  }
}

/** The results of a run, as its caller iterates them. */
export function resultsOf<Id>(run: Run<Id>): RerankAllResults<Id> {
  return new Results(run) as unknown as RerankAllResults<Id>;
}

/**
 * @internal Stops a bulk run without throwing away what is in flight: nothing more is sent, no retry either, and no pause
 * is waited for. After the results of the requests in flight, the run ends with `CANCELLED`.
 * @param results What `rerankAll` returned
 */
export function stopSending<Id>(results: RerankAllResults<Id>): void {
  Results.stopSending(results as RerankAllResults<never>);
}

/**
 * Many rankings at once: any number of requests, at the speed that the service allows.
 *
 * @module tunerank/bulk
 */
import type { Client } from "../client.js";
import { Source } from "./intake.js";
import {
  type RerankAllOptions,
  type RerankAllRequest,
  type RerankAllResult,
  type RerankAllResults,
  settingsOf,
} from "./options.js";
import { Run } from "./run.js";

export { checkRanking, type RankedRequest } from "../ranking/check.js";
export type {
  RerankAllAttempt,
  RerankAllError,
  RerankAllOptions,
  RerankAllRequest,
  RerankAllResult,
  RerankAllResults,
} from "./options.js";

/**
 * Ranks many requests, several at a time, and hands out a result for each as it settles, or in order. The contract's
 * `rerankDocuments`.
 *
 * Requests are taken from the source as there is room for them, so that memory does not grow with their number, and only
 * while results are asked for. A transient failure is tried again until the request's time is over, by the decision table
 * of all calls, but what ran only as often as the table says; when the service asks to wait (`Retry-After`), everything waits, up to `maxPauseMs`. A request that is wrong is a result with
 * its error, and so is a response that cannot be joined with the documents of its request ({@link checkRanking}). Leaving the loop early aborts what is under way, and closes the source.
 *
 * @param client The client that makes the calls. Its `maxRetries` and `timeoutMs` have no effect here.
 * @param requests Any iterable or async iterable: a list, a generator, the rows of a query.
 * @param options How many at once, in which order, and how long.
 * @returns An async iterator, which can be gone through once. It throws a {@link RerankAllError} that says what is not
 * done: `UNAUTHENTICATED` or `PERMISSION_DENIED` as soon as the service refuses the key, `RESOURCE_EXHAUSTED` when it asks
 * to wait longer than `maxPauseMs`, `DEADLINE_EXCEEDED` when `totalTimeoutMs` is over, `CANCELLED` when `signal` aborts,
 * `INVALID_ARGUMENT` when the client has no key or address. What the source throws is thrown on, after the results of what
 * was taken from it.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` at once for options that cannot be used.
 * @example
 * for await (const { id, response, error } of rerankAll(client, requests)) {
 *   if (error) console.error(id, error.message);
 *   else await save(id, response.data);
 * }
 */
export function rerankAll<Id = string>(
  client: Pick<Client, "rerank">,
  requests: Iterable<RerankAllRequest<Id>> | AsyncIterable<RerankAllRequest<Id>>,
  options?: RerankAllOptions<Id>,
): RerankAllResults<Id> {
  const run = new Run(client, new Source(requests), settingsOf(options));
  return new Results(run) as unknown as RerankAllResults<Id>;
}

class Results<Id> implements AsyncIterableIterator<RerankAllResult<Id>, undefined> {
  readonly #run: Run<Id>;

  constructor(run: Run<Id>) {
    this.#run = run;
  }

  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>> {
    return this.#run.next();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#run.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<never> {
    // How the source ends is less than why it is ended.
    await this.#run.close().catch(() => {});
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  // Older browsers have no Symbol.asyncDispose, and no syntax that would call it.
  [Symbol.asyncDispose ?? "asyncDispose"](): Promise<void> {
    return this.#run.close();
  }
}

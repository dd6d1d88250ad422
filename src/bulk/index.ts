/**
 * Bulk ranking: any number of rerank requests, as fast as the service allows.
 *
 * @module tunerank/bulk
 */
import type { Client } from "../client.js";
import { invalid } from "../errors/statusError.js";
import { insideOf } from "../wrappers/types.js";
import { sourceOf } from "./intake.js";
import {
  type RerankAllOptions,
  type RerankAllRequest,
  type RerankAllResults,
  settingsOf,
} from "./options.js";
import { BulkRun } from "./run.js";

export { checkRanking, type RankedRequest } from "../ranking/check.js";
export type {
  RankedDocument,
  RejectedDocument,
  RerankAllAttempt,
  RerankAllCounts,
  RerankAllError,
  RerankAllOptions,
  RerankAllRequest,
  RerankAllResponse,
  RerankAllResult,
  RerankAllResults,
} from "./options.js";

/**
 * Ranks many requests with the contract's operation `rerankDocuments`, several at a time. Each request has one result,
 * which is handed out as soon as it settles, or in the order of the requests (`ordered`).
 *
 * Requests are read from the source only while you ask for results, and only a bounded number ahead: memory does not
 * grow with the number of requests. A transient failure is retried until the request's deadline (`timeoutMs`); an
 * operation that ran, only as often as the guide "Retries" says. When the service asks to wait (`Retry-After`), the whole
 * run pauses, up to `maxPauseMs`. An invalid request gives a result with an error, and so does a response that does not
 * fit the documents of its request ({@link checkRanking}). Leaving the loop early aborts the requests in flight and
 * closes the source.
 *
 * @param client A client that `createClient` made, which makes the calls. Its `maxRetries` and `timeoutMs` have no effect here.
 * @param requests Any iterable or async iterable: a list, a generator, the rows of a query.
 * @param options Limits, order and deadlines.
 * @returns An async iterator, which can be iterated once. It throws a {@link RerankAllError}, which lists the requests
 * that are not done: `UNAUTHENTICATED` or `PERMISSION_DENIED` when the service rejects the key, once the requests in
 * flight have ended, `RESOURCE_EXHAUSTED` when the service asks to wait longer than `maxPauseMs`, or when `maxRequests`
 * or `maxTokens` is reached, `DEADLINE_EXCEEDED` when `totalTimeoutMs` is over, `CANCELLED` when `signal` aborts,
 * `INVALID_ARGUMENT` when the client has no key or address.
 * An error of the source is rethrown, after the results of what was read before it.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` at once for arguments that cannot be used.
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
  const limiters = insideOf(client)?.limiters;
  if (limiters === undefined) throw invalid("client", "client must be one that createClient made.");
  const run = new BulkRun(client, limiters, sourceOf(requests), settingsOf(options));
  return run as unknown as RerankAllResults<Id>;
}

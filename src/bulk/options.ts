import { invalid, refusal, type StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse, RerankResult } from "../generated/types.js";
import { checkCallback, checkCount, checkDuration, checkFlag, checkHeaders } from "../options/arguments.js";
import { checkSignal } from "../options/table.js";
import type { AbortSignalLike, AttemptEvent, CallOptions } from "../options/types.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { defaultMaxPauseMs, defaultRunMs } from "../policy/decisions.js";
import { concurrencyOf } from "../ranking/plan.js";
import { WithoutPrototype } from "../values.js";

/** One request of a bulk run: an id that you choose, and the fields of the contract's `RerankRequest`. */
export interface RerankAllRequest<Id = string> extends RerankRequest {
  /** Your id of the request, which its result has too, so that you can match them. It is not sent. */
  id: Id;
}

/** A ranked document of a {@link RerankAllResponse}. */
export interface RankedDocument extends RerankResult {
  /** The number, from 0, of the document's best part, which has this score; set only with `split`. */
  readonly part?: number;
}

/** A ranking of all documents of a request, or of the best `top_n` of them. */
export interface RerankAllResponse extends RerankResponse {
  /** The ranked documents, best first. Each `index` is a position in the `documents` of your request. */
  data: RankedDocument[];
}

/** A document that the service rejected. */
export interface RejectedDocument {
  /** The document's position in the `documents` of the request, from 0. */
  readonly index: number;
  /** Why the service rejected it. */
  readonly error: StatusError;
}

/** The result of one request: a ranking or an error. */
export type RerankAllResult<Id = string> =
  | {
      /** The id of the request. */
      readonly id: Id;
      /** The ranking, best first. It has passed `checkRanking`: it can be joined with the documents of its request. */
      readonly response: RerankAllResponse;
      /** The documents that the service rejected, and that are not ranked; set only with `batchSize` or `split`. */
      readonly rejected?: readonly RejectedDocument[];
      /** Absent: a result with a response has no error. */
      readonly error?: undefined;
    }
  | {
      /** The id of the request. */
      readonly id: Id;
      /** Why there is no ranking: the request was invalid or failed, or its response is not a usable ranking. */
      readonly error: StatusError;
      /** Absent, like `rejected`: a result with an error has no ranking. */
      readonly response?: undefined;
      readonly rejected?: undefined;
    };

// Declares `[Symbol.asyncDispose]` only if the `lib` of the program that compiles this has that symbol.
type AsyncDispose = SymbolConstructor extends { readonly asyncDispose: infer Name extends symbol }
  ? Readonly<Record<Name, () => Promise<void>>>
  : object;

/** The results of a bulk run, which can be iterated once. `await using` ends the run as `return` does. */
export interface RerankAllResults<Id = string>
  extends AsyncIterableIterator<RerankAllResult<Id>>,
    AsyncDispose {
  /** What the run has done so far: a new object at each read, during the run and after its end. */
  readonly counts: RerankAllCounts;
  /** The next result; concurrent calls receive different ones. */
  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
  /** Ends the run: aborts the requests in flight and closes the source. Leaving a `for await` loop calls it. */
  return(): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
  /**
   * Ends the run as `return` does, then rejects.
   * @param error The error that the promise rejects with.
   */
  throw(error: unknown): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
}

/** What a bulk run has done. */
export interface RerankAllCounts {
  /** How many requests have a result. */
  readonly done: number;
  /** How many HTTP requests were made, retries included. Invalid requests are not sent, and not counted. */
  readonly requests: number;
  /** How many of the HTTP requests were retries. */
  readonly retries: number;
  /** The tokens of all responses, as their `usage` counts them: `total_tokens`, else `prompt_tokens`. */
  readonly tokens: number;
}

/** The error of a bulk run that ended before all its requests were done, and what the run did until then. */
export interface RerankAllError<Id = string> extends StatusError, RerankAllCounts {
  /** The ids of the requests that were read from the source and have no result. The rest of the source was not read. */
  readonly notDone: readonly Id[];
  /**
   * How many batches of the requests in `notDone` were ranked, and so paid for, though they have no result: a run that
   * goes on sends them again. 0 without `batchSize`.
   */
  readonly batchesLost: number;
  /** The option that ended the run, if one of these limits did. */
  readonly limit?: "maxRequests" | "maxTokens" | undefined;
}

/** The argument of {@link RerankAllOptions.onAttempt}: one attempt of a bulk run. */
export interface RerankAllAttempt<Id = string> extends AttemptEvent {
  /** The id of the request that was sent. */
  readonly id: Id;
  /** The concurrency limit of the whole run from now on: how many requests may be in flight. */
  readonly concurrency: number;
  /**
   * How long the whole run pauses, in milliseconds, because this response asks to wait (`Retry-After`); absent when it
   * does not. A time longer than `maxPauseMs` ends the run.
   */
  readonly pauseMs?: number;
}

/** Options of {@link rerankAll}. */
export interface RerankAllOptions<Id = string> extends Pick<CallOptions, "headers" | "signal"> {
  /**
   * The concurrency limit, the maximum number of requests in flight: at least 1, and never more than the client's
   * `maxConnections` (128 by default). `"auto"` searches for the best limit: it starts at 4 and doubles until the
   * service rate limits (429), responses come no faster, or the limit is 256; `{ max }` replaces that 256. Concurrent
   * runs of one client share the limit that they find, and a later run starts at half of it; a fixed number applies to
   * each run separately. @default "auto"
   */
  concurrency?: number | "auto" | { readonly max: number } | undefined;
  /**
   * The rate limit of your account, if you know it: each number greater than 0. Requests are spread evenly, retries
   * included. A request counts as the tokens in its response's `usage`; until the response arrives, they are estimated
   * from the request's bytes. Pass about 95 % of the rate that the service allows. @default no limit
   */
  rate?:
    | { readonly requestsPerMinute?: number | undefined; readonly tokensPerMinute?: number | undefined }
    | undefined;
  /**
   * The maximum number of documents of one HTTP request: at least 1. A request with more is sent in batches, and has
   * one result: `top_n` is applied once, to all of its documents together, and `usage` is the sum. Scores from several
   * batches may be compared only if your model scores each document by itself. Each batch has its own deadline and its
   * own retries. If one fails for good, the request fails and its other batches are aborted; `executed` is then `"yes"`
   * if any batch was paid for. A document that the service rejects costs only itself: it is listed in `rejected`.
   * @default all documents in one request
   */
  batchSize?: number | undefined;
  /**
   * Splits a document that is too long for the model into parts, each of which is sent as a document. A document's
   * score is that of its best part. Called once for a document. @default every document is sent whole
   */
  split?: ((document: string) => readonly string[]) | undefined;
  /** Hand out the results in the order of the requests, instead of the order in which they settle. @default false */
  ordered?: boolean | undefined;
  /**
   * The deadline of one request, in milliseconds from its first attempt, waits included. Greater than 0. A transient
   * failure is retried until then, regardless of the client's `maxRetries`. An operation that ran (`executed` is
   * `"yes"`), and so was paid for, is retried only as often as the decision table says.
   * @default 60,000, regardless of the client's `timeoutMs`
   */
  timeoutMs?: number | undefined;
  /** The timeout of one attempt, in milliseconds. Greater than 0. @default half of timeoutMs */
  attemptTimeoutMs?: number | undefined;
  /** Milliseconds after which the whole run ends with `DEADLINE_EXCEEDED`. Greater than 0. @default no limit */
  totalTimeoutMs?: number | undefined;
  /**
   * The maximum number of HTTP requests of the whole run, retries included: at least 1. The run then ends with
   * `RESOURCE_EXHAUSTED` and `limit`, after the results of the requests in flight, unless nothing is left. A request
   * that alone has more batches than that fails with `OUT_OF_RANGE`, and is not sent. @default no limit
   */
  maxRequests?: number | undefined;
  /**
   * The maximum number of tokens of the whole run, as the responses' `usage` counts them: at least 1. The run ends as
   * with `maxRequests` once they are reached. Requests in flight, and responses without `usage`, count as an estimate
   * from their bytes, so the number may be exceeded a little. Requests that fail count nothing. @default no limit
   */
  maxTokens?: number | undefined;
  /**
   * The longest `Retry-After`, in milliseconds, for which the whole run pauses: at least 0. With 0 the run never
   * pauses, with `Infinity` it always does. A longer `Retry-After` ends the run with `RESOURCE_EXHAUSTED` and
   * `retryAfterMs`, after the results of the requests in flight. @default 60,000
   */
  maxPauseMs?: number | undefined;
  /** Whether other processes send to the service, too: after a 429 the run then waits longer. @default false */
  sharesService?: boolean | undefined;
  /** When this signal aborts, the run ends with `CANCELLED`, and the requests in flight are aborted. */
  signal?: AbortSignalLike | undefined;
  /** Called after each attempt, like the option `onAttempt` of a call. */
  onAttempt?: ((event: RerankAllAttempt<Id>) => void) | undefined;
}

const rateNames = { requestsPerMinute: checkRate, tokensPerMinute: checkRate };
const names: OptionTable<RerankAllOptions> = {
  concurrency: concurrencyOf,
  rate: (value) => ownProperties(value as object, "rate", rateNames),
  batchSize: checkCount,
  split: checkCallback,
  ordered: checkFlag,
  timeoutMs: checkDuration,
  attemptTimeoutMs: checkDuration,
  totalTimeoutMs: checkDuration,
  maxRequests: checkCount,
  maxTokens: checkCount,
  maxPauseMs: checkPause,
  sharesService: checkFlag,
  headers: checkHeaders,
  signal: checkSignal,
  onAttempt: checkCallback,
};

/** @internal The checked options of a run; these four have their defaults. */
export interface RunSettings<Id> extends RerankAllOptions<Id> {
  readonly concurrency: number | { readonly max: number };
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxPauseMs: number;
}

/** @internal Checks the options of a run. @throws StatusError that names the first invalid option */
export function settingsOf<Id>(options: RerankAllOptions<Id> | undefined): RunSettings<Id> {
  const own: RerankAllOptions<Id> = ownProperties(options, "options", names);
  const { timeoutMs = defaultRunMs, attemptTimeoutMs = timeoutMs / 2, maxPauseMs = defaultMaxPauseMs } = own;
  const concurrency = concurrencyOf(own.concurrency);
  // Without a prototype: a polluted Object.prototype must not set an option.
  return Object.assign(new WithoutPrototype(), own, { concurrency, timeoutMs, attemptTimeoutMs, maxPauseMs });
}

function checkRate(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw invalid(name, `${name} must be a number.`);
  if (value <= 0) throw refusal("OUT_OF_RANGE", name, `${name} must be greater than 0, not ${value}.`);
  return value;
}

function checkPause(value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value))
    throw invalid("maxPauseMs", "maxPauseMs must be a number of milliseconds, or Infinity.");
  if (value < 0) throw refusal("OUT_OF_RANGE", "maxPauseMs", `maxPauseMs must be at least 0, not ${value}.`);
  return value;
}

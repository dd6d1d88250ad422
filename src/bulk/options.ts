import { invalid, refusal, type StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import {
  checkCallback,
  checkDuration,
  checkFlag,
  checkHeaders,
  checkInteger,
  ownProperties,
} from "../options/arguments.js";
import { checkSignal } from "../options/table.js";
import type { AbortSignalLike, AttemptEvent, CallOptions } from "../options/types.js";
import type { OptionTable } from "../options/validate.js";
import type { Rate } from "../policy/rate.js";
import { attemptPolicy } from "../policy/retry.js";

/** One request of a bulk run: an id of yours, and the fields of the contract's `RerankRequest`. */
export interface RerankAllRequest<Id = string> extends RerankRequest {
  /** It is on the result too, so that you know which request it belongs to. It is not sent. */
  id: Id;
}

/** What came of one request: a ranking or an error. */
export type RerankAllResult<Id = string> =
  | {
      /** The request's own. */
      readonly id: Id;
      /** The ranking, best first: what cannot be joined with the documents of its request is an error, as `checkRanking` has it. */
      readonly response: RerankResponse;
      /** Never there beside a response. */
      readonly error?: undefined;
    }
  | {
      /** The request's own. */
      readonly id: Id;
      /** Why there is none: the request is wrong, its time ran out, or what came is no ranking of its documents. */
      readonly error: StatusError;
      /** Never there beside an error. */
      readonly response?: undefined;
    };

// For `await using`, where the program's `lib` has it: without that, nothing could name it.
type AsyncDispose = SymbolConstructor extends { readonly asyncDispose: infer Name extends symbol }
  ? Readonly<Record<Name, () => Promise<void>>>
  : object;

/**
 * The results of a run, which can be gone through once. It has `Symbol.asyncDispose` too, for `await using`, which ends
 * the run as `return` does.
 */
export interface RerankAllResults<Id = string>
  extends AsyncIterableIterator<RerankAllResult<Id>>,
    AsyncDispose {
  /** The next result. Those that ask at once each get their own. */
  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
  /** Ends the run: what is under way is aborted, and the source closed. Leaving a loop calls it. */
  return(): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
  /**
   * The same, and rejects, as a generator does.
   *
   * @param error What it rejects with.
   */
  throw(error: unknown): Promise<IteratorResult<RerankAllResult<Id>, undefined>>;
}

/** Why a run ended before its requests were done. */
export interface RerankAllError<Id = string> extends StatusError {
  /** How many results there were before. */
  readonly done: number;
  /** The ids of the requests that were read from the source and have no result. The rest of the source was not read. */
  readonly notDone: readonly Id[];
}

/** What {@link RerankAllOptions.onAttempt} is called with. */
export interface RerankAllAttempt<Id = string> extends AttemptEvent {
  /** The id of the request that was sent. */
  readonly id: Id;
  /** How many requests the whole run may have under way at once from now on. */
  readonly concurrency: number;
  /**
   * Milliseconds in which the whole run sends nothing, because this answer asks to wait (`Retry-After`); absent when it
   * does not. Longer than `maxPauseMs`, it ends the run.
   */
  readonly holdMs?: number;
}

/** Options of {@link rerankAll}. */
export interface RerankAllOptions<Id = string> extends Pick<CallOptions, "headers" | "signal"> {
  /**
   * How many requests are under way at once: at least 1, and never more than the client's `maxConnections` (128 by
   * default). `"auto"` finds how many serve the run best: it begins with 4 and doubles until the service refuses, or
   * answers no faster for it, or 256 are reached; `{ max }` is another number for that. Runs of one client at once
   * share what they find, and a fixed number is each run's own.
   * @default "auto"
   */
  concurrency?: number | "auto" | { readonly max: number } | undefined;
  /**
   * What your account may send, where you know it: greater than 0. Requests are spread evenly, retries included; a
   * request counts as the tokens of its answer's `usage`, and until that is there as an estimate from its bytes. Declare
   * some 95 % of the service's rate.
   * @default no limit
   */
  rate?:
    | {
        readonly requestsPerMinute?: number | undefined;
        readonly tokensPerMinute?: number | undefined;
      }
    | undefined;
  /** Hand the results out in the order of the requests, instead of as they settle. @default false */
  ordered?: boolean | undefined;
  /**
   * Milliseconds for one request, from its first attempt on: attempts and waits. Greater than 0. A transient failure is
   * retried until then, whatever `maxRetries` of the client says; what ran (`executed` is `"yes"`), and so was paid for,
   * only as often as the decision table says.
   * @default 60,000, whatever `timeoutMs` of the client says
   */
  timeoutMs?: number | undefined;
  /** Milliseconds for one attempt. Greater than 0. @default half of timeoutMs */
  attemptTimeoutMs?: number | undefined;
  /** Milliseconds for the whole run, in which it ends with `DEADLINE_EXCEEDED`. Greater than 0. @default no limit */
  totalTimeoutMs?: number | undefined;
  /**
   * The longest `Retry-After`, in milliseconds, for which the whole run waits: at least 0; 0 never waits, and `Infinity`
   * always does. A longer one ends the run, once the answers under way are handed out, with `RESOURCE_EXHAUSTED` and
   * `retryAfterMs`.
   * @default 60,000
   */
  maxPauseMs?: number | undefined;
  /** Ends the run with `CANCELLED` when it aborts, and what is under way with it. */
  signal?: AbortSignalLike | undefined;
  /** Called after each attempt, as the same option of a call is. */
  onAttempt?: ((event: RerankAllAttempt<Id>) => void) | undefined;
}

const names: OptionTable<RerankAllOptions> = {
  concurrency: 1,
  rate: 1,
  ordered: checkFlag,
  timeoutMs: checkDuration,
  attemptTimeoutMs: checkDuration,
  totalTimeoutMs: checkDuration,
  maxPauseMs: 1,
  headers: checkHeaders,
  signal: checkSignal,
  onAttempt: checkCallback,
};

const defaultTimeoutMs = 60_000;
const defaultMaxHoldMs = 60_000;
const mostAtOnce = 256;

/** @internal The options, checked, with their defaults. */
export interface RunSettings<Id> extends Pick<RerankAllOptions<Id>, "headers" | "signal" | "onAttempt"> {
  readonly concurrency: number | { readonly max: number };
  readonly rate: Rate | undefined;
  readonly ordered: boolean;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly totalTimeoutMs: number | undefined;
  readonly maxPauseMs: number;
  /** Whether other processes send to the same service. */
  readonly sharesService: boolean;
}

/** @internal @throws StatusError naming the first option that cannot be used */
export function settingsOf<Id>(options: RerankAllOptions<Id> | undefined): RunSettings<Id> {
  const own: RerankAllOptions<Id> & { [attemptPolicy]?: true } = ownProperties(options, "options", names);
  const { timeoutMs = defaultTimeoutMs } = own;
  return {
    concurrency: concurrencyOf(own.concurrency),
    rate: rateOf(own.rate),
    ordered: own.ordered === true,
    timeoutMs,
    attemptTimeoutMs: own.attemptTimeoutMs ?? timeoutMs / 2,
    totalTimeoutMs: own.totalTimeoutMs,
    maxPauseMs: holdOf(own.maxPauseMs),
    headers: own.headers,
    signal: own.signal,
    onAttempt: own.onAttempt,
    sharesService: own[attemptPolicy] === true,
  };
}

function concurrencyOf(value: RerankAllOptions["concurrency"] = "auto"): RunSettings<unknown>["concurrency"] {
  if (value === "auto") return { max: mostAtOnce };
  if (typeof value === "number") return checkInteger(value, "concurrency", 1);
  if (typeof value !== "object" || value === null)
    throw invalid('concurrency must be a whole number or "auto".', { hint: "Or pass { max } for auto." });
  const { max } = ownProperties(value, "concurrency", { max: 1 });
  return { max: checkInteger(max, "concurrency.max", 1) };
}

function rateOf(value: RerankAllOptions["rate"]): Rate | undefined {
  if (value === undefined) return undefined;
  const own = ownProperties(value, "rate", { requestsPerMinute: 1, tokensPerMinute: 1 });
  for (const [name, number] of Object.entries(own)) {
    if (number === undefined) continue;
    if (typeof number !== "number" || !Number.isFinite(number))
      throw invalid(`rate.${name} must be a number.`);
    if (number <= 0) throw refusal("OUT_OF_RANGE", `rate.${name} must be greater than 0, not ${number}.`);
  }
  return own;
}

function holdOf(value: unknown): number {
  if (value === undefined) return defaultMaxHoldMs;
  if (typeof value !== "number" || Number.isNaN(value))
    throw invalid("maxPauseMs must be a number of milliseconds, or Infinity.");
  if (value < 0) throw refusal("OUT_OF_RANGE", `maxPauseMs must be at least 0, not ${value}.`);
  return value;
}

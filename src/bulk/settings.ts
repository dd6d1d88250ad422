// The options of a run, checked.
import { invalid, refusal } from "../errors/statusError.js";
import {
  checkCallback,
  checkDuration,
  checkFlag,
  checkIfGiven,
  checkInteger,
  ownProperties,
} from "../options/arguments.js";
import { checkHeaders } from "../options/headers.js";
import type { Names } from "../options/validate.js";
import type { Rate } from "../policy/pace.js";
import { oneOfMany } from "../policy/types.js";
import type { RerankAllOptions } from "./options.js";

const names: Names<RerankAllOptions> = {
  concurrency: 1,
  rate: 1,
  ordered: 1,
  timeoutMs: 1,
  attemptTimeoutMs: 1,
  totalTimeoutMs: 1,
  maxHoldMs: 1,
  headers: 1,
  signal: 1,
  onAttempt: 1,
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
  readonly maxHoldMs: number;
  readonly isOneOfMany: boolean;
}

/** @internal @throws StatusError naming the first option that cannot be used */
export function settingsOf<Id>(options: RerankAllOptions<Id> | undefined): RunSettings<Id> {
  const own: RerankAllOptions<Id> & { [oneOfMany]?: true } = ownProperties(options, "options", names);
  const { signal } = own;
  if (signal != null && typeof signal.addEventListener !== "function")
    throw invalid("signal must be an AbortSignal.");
  const timeoutMs = checkIfGiven(checkDuration, own.timeoutMs, "timeoutMs") ?? defaultTimeoutMs;
  return {
    concurrency: concurrencyOf(own.concurrency),
    rate: rateOf(own.rate),
    ordered: checkFlag(own.ordered, "ordered"),
    timeoutMs,
    attemptTimeoutMs: checkIfGiven(checkDuration, own.attemptTimeoutMs, "attemptTimeoutMs") ?? timeoutMs / 2,
    totalTimeoutMs: checkIfGiven(checkDuration, own.totalTimeoutMs, "totalTimeoutMs"),
    maxHoldMs: holdOf(own.maxHoldMs),
    headers: checkIfGiven(checkHeaders, own.headers, "headers"),
    signal: signal ?? undefined,
    onAttempt: checkCallback(own.onAttempt, "onAttempt"),
    isOneOfMany: own[oneOfMany] === true,
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
    throw invalid("maxHoldMs must be a number of milliseconds, or Infinity.");
  if (value < 0) throw refusal("OUT_OF_RANGE", `maxHoldMs must be at least 0, not ${value}.`);
  return value;
}

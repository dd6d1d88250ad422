// Every decision about a failure, as data: retry.ts, the docs, the README and contract/conformance read it.
import type { Executed, RetryEvent, StatusCode } from "../errors/codes.js";
import { httpStatuses, type RetryKind } from "../generated/contract.js";
import { mostRetries } from "../options/arguments.js";

/**
 * The decision table: for each event, the most retries of a start, read, set and append, in this order, and `executed`.
 * If the service documents nothing, a retry counts as not safe.
 */
export const events: Readonly<Record<RetryEvent, ReturnType<typeof row>>> = {
  // The service documents UNAVAILABLE as transient: retry with backoff.
  unavailable: row([2, 2, 2, 2], "unknown"),
  // 502, 52x, or 503 without a code in its body: a proxy responded.
  gateway: row([0, 2, 2, 0], "unknown"),
  exhaustedTimed: row([2, 2, 2, 1], "no"),
  exhausted: row([0, 1, 1, 0], "no"),
  // The service documents that after DEADLINE_EXCEEDED the operation may still have completed.
  deadline: row([0, 1, 1, 0], "unknown"),
  unnamedFault: row([0, 1, 1, 0], "unknown"),
  namedFault: row([0, 1, 0, 0], "unknown"),
  dataLoss: row([0, 0, 0, 0], "unknown"),
  otherFault: row([0, 0, 0, 0], "unknown"),
  refused: row([0, 0, 0, 0], "no"),
  cancelled: row([0, 0, 0, 0], "unknown"),
  redirect: row([0, 0, 0, 0], "unknown"),
  // Retried only with a new API key.
  unauthenticated: row([1, 1, 1, 1], "no"),
  // HTTP 421 or 425: the server rejected the request before it did any work.
  unprocessed: row([1, 1, 1, 1], "no"),
  neverConnected: row([2, 2, 2, 2], "no"),
  nameNotFound: row([1, 1, 1, 1], "no"),
  tlsFailure: row([0, 0, 0, 0], "no"),
  // The connection was lost after connecting and before the response's headers.
  connectionLost: row([0, 2, 2, 0], "unknown"),
  attemptTimeout: row([0, 1, 1, 0], "unknown"),
  // The connection was lost within the body of a 2xx response: the operation ran.
  bodyLost: row([0, 2, 1, 0], "yes"),
  notJson: row([0, 1, 0, 0], "yes"),
  // A JSON object that lacks the operation's result: an upload's id, a ranking's entries.
  incomplete: row([0, 1, 0, 0], "yes"),
  // A web page does not come from the service, which may never have seen the request.
  html: row([0, 0, 0, 0], "unknown"),
  // A 2xx status other than 200, without the JSON object that the contract promises.
  otherSuccess: row([0, 0, 0, 0], "yes"),
  // 101: the server changed to another protocol; nobody knows whether the operation ran.
  upgraded: row([0, 0, 0, 0], "unknown"),
  tooLarge: row([0, 0, 0, 0], "yes"),
  // The caller, the deadline or the file ended the attempt: how far the request got decides `executed`.
  ended: row([0, 0, 0, 0], "unknown"),
};

function row(
  [start, read, set, append]: readonly [number, number, number, number],
  executed: Executed,
): { readonly retries: Readonly<Record<RetryKind, number>>; readonly executed: Executed } {
  return { retries: { start, read, set, append }, executed };
}

/** Code and event by HTTP status, for a response that names no code. The first entry that matches counts. */
export const statusRows: readonly {
  readonly code: StatusCode;
  readonly event: RetryEvent;
  readonly statuses: RegExp;
}[] = [
  { code: "INTERNAL", event: "upgraded", statuses: /^101$/ },
  { code: "INVALID_ARGUMENT", event: "refused", statuses: /^4(00|06|11|13|14|15|17|22|26|31)$/ },
  { code: "UNAUTHENTICATED", event: "unauthenticated", statuses: /^401$/ },
  { code: "UNAUTHENTICATED", event: "refused", statuses: /^407$/ },
  { code: "FAILED_PRECONDITION", event: "refused", statuses: /^4(02|12|24|28)$/ },
  { code: "PERMISSION_DENIED", event: "refused", statuses: /^4(03|51)$/ },
  { code: "NOT_FOUND", event: "refused", statuses: /^4(04|10)$/ },
  { code: "UNIMPLEMENTED", event: "refused", statuses: /^(405|501)$/ },
  { code: "ABORTED", event: "refused", statuses: /^409$/ },
  { code: "OUT_OF_RANGE", event: "refused", statuses: /^416$/ },
  { code: "RESOURCE_EXHAUSTED", event: "exhausted", statuses: /^429$/ },
  { code: "DEADLINE_EXCEEDED", event: "deadline", statuses: /^(408|504)$/ },
  { code: "CANCELLED", event: "cancelled", statuses: /^499$/ },
  { code: "UNKNOWN", event: "unnamedFault", statuses: /^500$/ },
  { code: "UNAVAILABLE", event: "unprocessed", statuses: /^42[15]$/ },
  { code: "UNAVAILABLE", event: "gateway", statuses: /^5(02|03|2[0-7]|29|30)$/ },
  { code: "FAILED_PRECONDITION", event: "redirect", statuses: /^3..$/ },
  { code: "UNKNOWN", event: "refused", statuses: /^4..$/ },
  { code: "UNKNOWN", event: "otherFault", statuses: /./ },
];

/** How long to wait before a retry, in milliseconds: full jitter over a base that doubles up to a cap. */
export const backoff = {
  baseMs: 250,
  /** The base of the wait after RESOURCE_EXHAUSTED. */
  exhaustedBaseMs: 1000,
  capMs: 8000,
  /** The longest Retry-After that a call waits for: a longer one ends the call at once. */
  longestRetryAfterMs: 60_000,
  /** The largest random wait added to a Retry-After, as a share of it, and of the time from its end to the deadline. */
  jitterShare: 0.1,
  /** The random wait after a short Retry-After is up to this; after a long one, up to {@link backoff.jitterMostMs}. */
  jitterLeastMs: 100,
  jitterMostMs: 5_000,
} as const;

/** A client's retry budget, in tenths of a retry so that sums are exact. */
export const budget: { readonly full: number; readonly retryCost: number; readonly successGain: number } = {
  full: 100,
  retryCost: 10,
  successGain: 1,
};

// The defaults of options. `test/options/defaults.test.ts` compares them with the docstrings and the command's help.
export const defaultMaxRetries: number = mostRetries;
export const defaultConnectMs: number = 10_000;
export const defaultKeepAliveMs: number = 4_000;
export const defaultConnections: number = 128;
export const defaultRunMs: number = 60_000;
export const defaultMaxPauseMs: number = 60_000;
/** Nearly every service accepts so many requests at once: a search for the limit begins here. So few need no search. */
export const fewAtOnce: number = 4;
/** How many requests a run has in flight at most; `concurrency` may allow more. */
export const mostAtOnce: number = 256;

/** A code read from an HTTP status alone. */
export interface CodeOfStatus {
  /** One of the service's failure codes. */
  readonly code: StatusCode;
  /** False if the service's table has exactly one code for this status. */
  readonly inferred: boolean;
}

/**
 * The code for a response that names none. If several codes share its status, or if the contract's `Code` table
 * does not have the status, this client chooses the code and marks it `inferred`.
 *
 * @param httpStatus The status of the response, such as 404.
 * @example codeOfHttpStatus(404); // { code: "NOT_FOUND", inferred: false }
 */
export function codeOfHttpStatus(httpStatus: number): CodeOfStatus {
  const sharing = Object.values(httpStatuses).filter((each) => each === httpStatus).length;
  return { code: rowOfStatus(httpStatus).code, inferred: sharing !== 1 };
}

/** The code and event for a status, if the response names no code. */
export function rowOfStatus(httpStatus: number): (typeof statusRows)[number] {
  // The last entry matches every status.
  return statusRows.find(({ statuses }) => statuses.test(`${httpStatus}`)) as ReturnType<typeof rowOfStatus>;
}

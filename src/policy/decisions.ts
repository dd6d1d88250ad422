// Every decision about a failure, as data: retry.ts, the docs, the README and contract/conformance read it.
import type { Executed, RetryEvent, StatusCode } from "../errors/codes.js";
import { httpStatuses, type RetryKind } from "../generated/contract.js";
import { mostRetries } from "../options/arguments.js";

/**
 * The decision table: for each event, `executed`, and the most retries of a start, read, set and append, in this order.
 * If the service documents nothing, a retry counts as not safe.
 */
export const events: Readonly<Record<RetryEvent, EventRow>> = {
  // The service documents UNAVAILABLE as transient: retry with backoff.
  unavailable: row("unknown", 2, 2, 2, 2),
  // 502, 52x, or 503 without a code in its body: a proxy responded.
  gateway: row("unknown", 0, 2, 2, 0),
  exhaustedTimed: row("no", 2, 2, 2, 1),
  exhausted: row("no", 0, 1, 1, 0),
  // The service documents that after DEADLINE_EXCEEDED the operation may still have completed.
  deadline: row("unknown", 0, 1, 1, 0),
  unnamedFault: row("unknown", 0, 1, 1, 0),
  namedFault: row("unknown", 0, 1, 0, 0),
  dataLoss: row("unknown"),
  otherFault: row("unknown"),
  refused: row("no"),
  cancelled: row("unknown"),
  redirect: row("unknown"),
  // Retried only with a new API key.
  unauthenticated: row("no", 1, 1, 1, 1),
  // HTTP 421 or 425: the server rejected the request before it did any work.
  unprocessed: row("no", 1, 1, 1, 1),
  neverConnected: row("no", 2, 2, 2, 2),
  nameNotFound: row("no", 1, 1, 1, 1),
  tlsFailure: row("no"),
  // The connection was lost after connecting and before the response's headers.
  connectionLost: row("unknown", 0, 2, 2, 0),
  attemptTimeout: row("unknown", 0, 1, 1, 0),
  // The connection was lost within the body of a 2xx response: the operation ran.
  bodyLost: row("yes", 0, 2, 1, 0),
  notJson: row("yes", 0, 1, 0, 0),
  // A JSON object that lacks the operation's result: an upload's id, a ranking's entries.
  incomplete: row("yes", 0, 1, 0, 0),
  // A web page does not come from the service, which may never have seen the request.
  html: row("unknown"),
  // A 2xx status other than 200, without the JSON object that the contract promises.
  otherSuccess: row("yes"),
  // 101: the server changed to another protocol; nobody knows whether the operation ran.
  upgraded: row("unknown"),
  tooLarge: row("yes"),
  // The caller, the deadline or the file ended the attempt: how far the request got decides `executed`.
  ended: row("unknown"),
};

type EventRow = { readonly retries: Readonly<Record<RetryKind, number>>; readonly executed: Executed };

function row(executed: Executed, ...[start = 0, read = 0, set = 0, append = 0]: readonly number[]): EventRow {
  return { retries: { start, read, set, append }, executed };
}

/** Code and event by HTTP status, for a response that names no code. The first entry that matches counts. */
export const statusRows: readonly (readonly [code: StatusCode, event: RetryEvent, statuses: RegExp])[] = [
  ["INTERNAL", "upgraded", /^101$/],
  ["INVALID_ARGUMENT", "refused", /^4(00|06|11|13|14|15|17|22|26|31)$/],
  ["UNAUTHENTICATED", "unauthenticated", /^401$/],
  ["UNAUTHENTICATED", "refused", /^407$/],
  ["FAILED_PRECONDITION", "refused", /^4(02|12|24|28)$/],
  ["PERMISSION_DENIED", "refused", /^4(03|51)$/],
  ["NOT_FOUND", "refused", /^4(04|10)$/],
  ["UNIMPLEMENTED", "refused", /^(405|501)$/],
  ["ABORTED", "refused", /^409$/],
  ["OUT_OF_RANGE", "refused", /^416$/],
  ["RESOURCE_EXHAUSTED", "exhausted", /^429$/],
  ["DEADLINE_EXCEEDED", "deadline", /^(408|504)$/],
  ["CANCELLED", "cancelled", /^499$/],
  ["UNKNOWN", "unnamedFault", /^500$/],
  ["UNAVAILABLE", "unprocessed", /^42[15]$/],
  ["UNAVAILABLE", "gateway", /^5(02|03|2[0-7]|29|30)$/],
  ["FAILED_PRECONDITION", "redirect", /^3..$/],
  ["UNKNOWN", "refused", /^4..$/],
  ["UNKNOWN", "otherFault", /./],
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
export const defaultRunMs: number = 60_000;
export const defaultMaxPauseMs: number = 60_000;
/** Nearly every service accepts so many requests at once: a search for the limit begins here. So few need no search. */
export const fewAtOnce: number = 4;

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
  const [code] = rowOfStatus(httpStatus);
  return { code, inferred: sharing !== 1 };
}

/** The code and event for a status, if the response names no code. */
export function rowOfStatus(httpStatus: number): (typeof statusRows)[number] {
  // The last entry matches every status.
  const found = statusRows.find(([, , statuses]) => statuses.test(`${httpStatus}`));
  return found as (typeof statusRows)[number];
}

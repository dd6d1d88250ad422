// Every decision about a failure, as data: retry.ts, the docs, the README and contract/conformance read it.
import type { Executed, RetryEvent, StatusCode } from "../errors/codes.js";
import { httpStatuses, type RetryKind } from "../generated/contract.js";

/** The most retries after an event, and whether the operation ran. */
interface EventRow {
  readonly retries: Readonly<Record<RetryKind, number>>;
  readonly executed: Executed;
}

/** Event -> most retries of a start, read, set and append, and `executed`. Where nothing is documented, a retry is not safe. */
export const events: Readonly<Record<RetryEvent, EventRow>> = {
  // The service's own words: transient; retry with backoff.
  unavailable: row([2, 2, 2, 2], "unknown"),
  // 503 without a name, 502, 52x: a proxy answers.
  gateway: row([0, 2, 2, 0], "unknown"),
  exhaustedTimed: row([2, 2, 2, 1], "no"),
  exhausted: row([0, 1, 1, 0], "no"),
  // The operation may still have completed.
  deadline: row([0, 1, 1, 0], "unknown"),
  unnamedFault: row([0, 1, 1, 0], "unknown"),
  namedFault: row([0, 1, 0, 0], "unknown"),
  dataLoss: row([0, 0, 0, 0], "unknown"),
  otherFault: row([0, 0, 0, 0], "unknown"),
  refused: row([0, 0, 0, 0], "no"),
  cancelled: row([0, 0, 0, 0], "unknown"),
  redirect: row([0, 0, 0, 0], "unknown"),
  // Only with a fresh key.
  unauthenticated: row([1, 1, 1, 1], "no"),
  // 421, 425: refused before any work.
  unprocessed: row([1, 1, 1, 1], "no"),
  neverConnected: row([2, 2, 2, 2], "no"),
  nameNotFound: row([1, 1, 1, 1], "no"),
  tlsFailure: row([0, 0, 0, 0], "no"),
  // After connecting, before the answer's headers.
  connectionLost: row([0, 2, 2, 0], "unknown"),
  attemptTimeout: row([0, 1, 1, 0], "unknown"),
  // Inside the body of a 2xx: the operation ran.
  bodyLost: row([0, 2, 1, 0], "yes"),
  notJson: row([0, 1, 0, 0], "yes"),
  // A JSON object without what the operation is for: an upload's id, a ranking's entries.
  incomplete: row([0, 1, 0, 0], "yes"),
  // A web page is somebody else's answer: the service may never have seen the request.
  html: row([0, 0, 0, 0], "unknown"),
  // Not 200, and without the JSON object that the contract promises.
  otherSuccess: row([0, 0, 0, 0], "yes"),
  // 101: another protocol, whatever became of the request.
  upgraded: row([0, 0, 0, 0], "unknown"),
  tooLarge: row([0, 0, 0, 0], "yes"),
  // The caller, the deadline or the file ended it: `executed` tells how far the request got.
  ended: row([0, 0, 0, 0], "unknown"),
};

function row(
  [start, read, set, append]: readonly [number, number, number, number],
  executed: Executed,
): EventRow {
  return { retries: { start, read, set, append }, executed };
}

/** A code that the answer names -> event. */
export const eventOfCode: Readonly<Record<StatusCode, RetryEvent>> = {
  CANCELLED: "cancelled",
  UNKNOWN: "namedFault",
  INVALID_ARGUMENT: "refused",
  DEADLINE_EXCEEDED: "deadline",
  NOT_FOUND: "refused",
  ALREADY_EXISTS: "refused",
  PERMISSION_DENIED: "refused",
  UNAUTHENTICATED: "unauthenticated",
  RESOURCE_EXHAUSTED: "exhausted",
  FAILED_PRECONDITION: "refused",
  ABORTED: "refused",
  OUT_OF_RANGE: "refused",
  UNIMPLEMENTED: "refused",
  INTERNAL: "namedFault",
  UNAVAILABLE: "unavailable",
  DATA_LOSS: "dataLoss",
};

/** What an answer that names no code stands for. */
interface StatusRow {
  readonly code: StatusCode;
  readonly event: RetryEvent;
  /** Its HTTP statuses. */
  readonly statuses: RegExp;
}

/** HTTP status -> code and event, for an answer that names no code. The first row that fits counts. */
export const statusRows: readonly StatusRow[] = [
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
export const backoff: Readonly<
  Record<
    | "baseMs"
    | "exhaustedBaseMs"
    | "capMs"
    | "longestRetryAfterMs"
    | "jitterShare"
    | "jitterLeastMs"
    | "jitterMostMs",
    number
  >
> = {
  baseMs: 250,
  /** The base after RESOURCE_EXHAUSTED. */
  exhaustedBaseMs: 1000,
  capMs: 8000,
  /** A longer Retry-After ends the call at once. */
  longestRetryAfterMs: 60_000,
  /** The random part on top of a Retry-After is at most this share of it, and of the time that is left after it. */
  jitterShare: 0.1,
  /** Of a short Retry-After it is at most this; of a long one no more than {@link backoff.jitterMostMs}. */
  jitterLeastMs: 100,
  jitterMostMs: 5_000,
};

/** What a client may spend on retries, in tenths of a retry so that they add up exactly. */
export const budget: { readonly full: number; readonly retryCost: number; readonly successGain: number } = {
  full: 100,
  retryCost: 10,
  successGain: 1,
};

/** Milliseconds to connect; a client's default. */
export const defaultConnectTimeoutMs: number = 10_000;

/** Milliseconds that an idle connection is kept; a client's default. */
export const defaultKeepAliveMs: number = 4_000;

/** The most retries of a call; a client's default. */
export const defaultMaxRetries: number = 2;

/** A code read from an HTTP status alone. */
export interface CodeOfStatus {
  /** One of the service's failure codes. */
  readonly code: StatusCode;
  /** False where the service's table has exactly one code for this status. */
  readonly inferred: boolean;
}

/**
 * The code for an answer that names none. Where several codes share a status, and for statuses outside the
 * contract's `Code` table, it is this client's choice and marked `inferred`.
 *
 * @param httpStatus The status of the answer, such as 404.
 * @example codeOfHttpStatus(404); // { code: "NOT_FOUND", inferred: false }
 */
export function codeOfHttpStatus(httpStatus: number): CodeOfStatus {
  const sharing = Object.values(httpStatuses).filter((each) => each === httpStatus).length;
  return { code: rowOfStatus(httpStatus).code, inferred: sharing !== 1 };
}

/** What the decision table says of a status whose answer names no code. */
export function rowOfStatus(httpStatus: number): StatusRow {
  // The last row has all.
  return statusRows.find(({ statuses }) => statuses.test(`${httpStatus}`)) as StatusRow;
}

import { codes } from "../generated/contract.js";
import type { Code } from "../generated/types.js";

/** A code that means failure: every {@link Code} but `OK`. */
export type StatusCode = Exclude<Code, "OK">;

/** Whether the operation ran: `"no"` is proved, `"yes"` means a 2xx answer began, otherwise `"unknown"`. */
export type Executed = "no" | "unknown" | "yes";

// What the service's table leaves open: statuses that have several codes there, or none.
const chosen: Readonly<Record<number, StatusCode>> = {
  400: "INVALID_ARGUMENT",
  402: "FAILED_PRECONDITION",
  405: "UNIMPLEMENTED",
  406: "INVALID_ARGUMENT",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  412: "FAILED_PRECONDITION",
  413: "INVALID_ARGUMENT",
  414: "INVALID_ARGUMENT",
  415: "INVALID_ARGUMENT",
  416: "OUT_OF_RANGE",
  421: "UNAVAILABLE",
  422: "INVALID_ARGUMENT",
  425: "UNAVAILABLE",
  431: "INVALID_ARGUMENT",
  500: "UNKNOWN",
  502: "UNAVAILABLE",
  529: "UNAVAILABLE",
  530: "UNAVAILABLE",
};

const named = new Map<number, StatusCode>();
for (const [code, { httpStatus }] of Object.entries(codes)) {
  if (code !== "OK" && !(httpStatus in chosen)) named.set(httpStatus, code as StatusCode);
}

/** A code read from an HTTP status alone. */
export interface CodeOfStatus {
  /** The code. */
  readonly code: StatusCode;
  /** False where the service's table has exactly one code for this status. */
  readonly inferred: boolean;
}

/**
 * The code for an answer that names none. (Interface document: Errors; several codes on one status,
 * and statuses outside the table, are this client's choice and marked `inferred`.)
 */
export function codeOfHttpStatus(httpStatus: number): CodeOfStatus {
  const code = named.get(httpStatus);
  if (code !== undefined) return { code, inferred: false };
  if (httpStatus >= 300 && httpStatus < 400) return { code: "FAILED_PRECONDITION", inferred: true };
  if (httpStatus >= 520 && httpStatus <= 527) return { code: "UNAVAILABLE", inferred: true };
  return { code: chosen[httpStatus] ?? "UNKNOWN", inferred: true };
}

/** The HTTP status the service's table gives a code. Not an inverse: several codes share 400, 409 and 500. */
export function httpStatusOfCode(code: Code): number {
  return codes[code].httpStatus;
}

/** Whether an error answer proves that nothing ran: its HTTP status and the code it names must both say refused. */
export function executedOfAnswer(code: StatusCode, httpStatus: number, named: boolean): Executed {
  const refusedByCode = refuses(codes[code].httpStatus) || (!named && isUnprocessed(httpStatus));
  return refuses(httpStatus) && refusedByCode ? "no" : "unknown";
}

/** Whether a status says, of itself, that the request was not processed: misdirected, or too early. */
export function isUnprocessed(httpStatus: number): boolean {
  return httpStatus === 421 || httpStatus === 425;
}

function refuses(httpStatus: number): boolean {
  // Somebody stopped waiting, whatever the service did.
  if (httpStatus === 408 || httpStatus === codes.CANCELLED.httpStatus) return false;
  return (httpStatus >= 400 && httpStatus < 500) || httpStatus === codes.UNIMPLEMENTED.httpStatus;
}

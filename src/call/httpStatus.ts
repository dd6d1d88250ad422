import type { StatusCode } from "../errors/codes.js";
import { codes } from "../generated/contract.js";
import { eventOfStatus, type StatusRow, statusRanges } from "./decisions.js";

/** A code read from an HTTP status alone. */
export interface CodeOfStatus {
  /** The code. */
  readonly code: StatusCode;
  /** False where the service's table has exactly one code for this status. */
  readonly inferred: boolean;
}

// How many codes share a status in the service's table.
const sharing = new Map<number, number>();
for (const { httpStatus } of Object.values(codes)) {
  sharing.set(httpStatus, (sharing.get(httpStatus) ?? 0) + 1);
}

/**
 * The code for an answer that names none. Where several codes share a status, and for statuses outside the
 * contract's `Code` table, it is this client's choice and marked `inferred`.
 */
export function codeOfHttpStatus(httpStatus: number): CodeOfStatus {
  return { code: rowOfStatus(httpStatus).code, inferred: sharing.get(httpStatus) !== 1 };
}

/** What the decision table says of a status whose answer names no code. */
export function rowOfStatus(httpStatus: number): StatusRow {
  const listed = Object.hasOwn(eventOfStatus, httpStatus) ? eventOfStatus[httpStatus] : undefined;
  if (listed) return listed;
  const range = statusRanges.find(({ from, to }) => httpStatus >= from && httpStatus <= to);
  return (range ?? (statusRanges[statusRanges.length - 1] as NonNullable<typeof range>)).row;
}

import type { StatusCode } from "../errors/codes.js";
import { httpStatuses } from "../generated/contract.js";
import { type StatusRow, statusRows } from "./decisions.js";

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

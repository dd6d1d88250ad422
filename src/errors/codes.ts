import { codes } from "../generated/contract.js";
import type { Code } from "../generated/types.js";

/** A code that means failure: every {@link Code} but `OK`. */
export type StatusCode = Exclude<Code, "OK">;

/** Whether the operation ran: `"no"` is proved, `"yes"` means a 2xx answer began, otherwise `"unknown"`. */
export type Executed = "no" | "unknown" | "yes";

/** Who named the code: the answer's body, its HTTP status, the network below it, or this client. */
export type CodeSource = "body" | "status" | "transport" | "client";

/** The HTTP status the service's table gives a code. Not an inverse: several codes share 400, 409 and 500. */
export function httpStatusOfCode(code: Code): number {
  return codes[code].httpStatus;
}

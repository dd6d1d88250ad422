import type { StatusError } from "../../index.js";

/**
 * Whether an error is a request's last word: the request itself is wrong, and wrong it stays. Everything else runs again
 * on the next start: what was transient, and what is not the request's fault, such as an account's state or a web page in
 * the place of an answer.
 */
export function isFinal({ code, codeSource }: StatusError): boolean {
  if (code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE") return true;
  // Without a name in its body, a 404 may be that of a wrong address.
  return code === "NOT_FOUND" && codeSource === "body";
}

/** What a file keeps of an error. */
export function errorFields({
  code,
  message,
  executed,
  httpStatus,
  requestId,
  attempts,
}: StatusError): Record<string, unknown> {
  return { code, message, executed, httpStatus, requestId, attempts: attempts.length };
}

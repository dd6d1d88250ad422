import type { OperationId } from "../generated/contract.js";
import { operations } from "../generated/contract.js";
import type { Executed, StatusCode } from "./codes.js";

const advice: Readonly<Record<StatusCode, string>> = {
  ABORTED: "Another change ran at the same time: read the current state, then decide whether to repeat.",
  ALREADY_EXISTS: "It exists already: use it, or choose another id.",
  CANCELLED: "The call was cancelled.",
  DATA_LOSS: "Do not repeat blindly: compare what the service holds with what you sent.",
  DEADLINE_EXCEEDED: "Allow more time with timeoutMs, or find out why the service is slow.",
  FAILED_PRECONDITION:
    "Bring the resource into the state required, then call again; repeating alone cannot help.",
  INTERNAL: "The fault is the service's: report it with the request id.",
  INVALID_ARGUMENT: "Correct the argument named in the message; the same call will fail again.",
  NOT_FOUND: "Check the id, the account and the base URL.",
  OUT_OF_RANGE: "Use a value within the range named in the message.",
  PERMISSION_DENIED: "The key is valid but lacks this permission: use another key or have it granted.",
  RESOURCE_EXHAUSTED: "Wait (retryAfterMs when given), or lower the rate or the size of your requests.",
  UNAUTHENTICATED: "Check apiKey or TUNERANK_API_KEY: the service did not accept the key.",
  UNAVAILABLE: "The service could not be reached or is overloaded: try again later with growing pauses.",
  UNIMPLEMENTED: "This server does not offer the operation: check the base URL, or have it enabled.",
  UNKNOWN: "The service gave no reason: report it with the request id.",
};

const unsettled: Readonly<Partial<Record<OperationId, string>>> = {
  resumeReinforcementFineTuningJob:
    "The job may have been resumed: look at it through the service's other operations before repeating.",
  uploadDatasetFile:
    "The file may have been stored: look at the dataset through the service's other operations before repeating.",
};

/** One sentence on what to do now. */
export function hintFor(code: StatusCode, executed: Executed, operation?: OperationId): string {
  if (executed === "no" || operation === undefined) return advice[code];
  if (Object.hasOwn(unsettled, operation)) return unsettled[operation] as string;
  return operations[operation].retrySafe ? `${advice[code]} Repeating this call is safe.` : advice[code];
}

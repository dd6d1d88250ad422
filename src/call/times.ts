import type { OperationName } from "../errors/details.js";
import { type OperationId, operations } from "../generated/contract.js";
import { isForm } from "../transport/transport.js";
import type { Times } from "./deadline.js";
import { isRepeatable } from "./retry.js";
import type { CallSettings, PreparedRequest } from "./types.js";

/** What the options say, else the operation's defaults. */
export function timesOf(operation: OperationName, request: PreparedRequest, settings: CallSettings): Times {
  const { repeatable, maxRetries, timeoutMs = defaultTimeoutMs(operation, request) } = settings;
  const retried = isRepeatable(operation, repeatable) && maxRetries > 0;
  // Half of the time for a first try leaves the other half for a second.
  return { timeoutMs, attemptTimeoutMs: settings.attemptTimeoutMs ?? (retried ? timeoutMs / 2 : timeoutMs) };
}

// A file may take as long as it does at the slowest rate; one of unknown size, as the largest.
function defaultTimeoutMs(operation: OperationName, { body }: PreparedRequest): number {
  const { timeoutMs, bytesPerSecond } = operations[operation as OperationId];
  if (bytesPerSecond === undefined || !isForm(body)) return timeoutMs;
  const { file, maxFileBytes } = body.part;
  return timeoutMs + ((file.size ?? maxFileBytes) * 1000) / bytesPerSecond;
}

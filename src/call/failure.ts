import { redact } from "../errors/errorBody.js";
import { codeOfHttpStatus, type Executed, executedOfAnswer } from "../errors/httpStatus.js";
import { StatusError, type StatusErrorDetails } from "../errors/statusError.js";
import { SourceError } from "../files/sourceError.js";
import type { OperationId } from "../generated/contract.js";
import { networkCode, type Phase, type TransportFailure } from "../transport/transport.js";
import type { EndReason } from "./deadline.js";
import { AttemptFailure, eventOfFailure } from "./retry.js";

/** The failure of a request that brought no whole answer. */
export function transportFailure(
  operation: OperationId,
  failure: TransportFailure,
  key: string,
): AttemptFailure {
  const { phase, reason, cause } = failure;
  const error = transportError(operation, failure, key);
  return new AttemptFailure(error, [eventOfFailure(phase, reason, networkCode(cause))]);
}

function transportError(operation: OperationId, failure: TransportFailure, key: string): StatusError {
  const { phase, reason, status } = failure;
  const cause = reason === "source" ? failure.cause : withoutKey(failure.cause, key);
  const executed = executedSoFar(phase, status);
  const shared = { operation, executed, cause, httpStatus: status } satisfies Partial<StatusErrorDetails>;
  const message = redact(key, failure.message);
  if (reason === "connect-timeout") {
    return new StatusError(message, { ...shared, code: "DEADLINE_EXCEEDED", codeSource: "transport" });
  }
  if (reason === "attempt-timeout") {
    return new StatusError("No complete answer to this attempt in time (attemptTimeoutMs).", {
      ...shared,
      code: "DEADLINE_EXCEEDED",
      codeSource: "client",
    });
  }
  if (reason === "too-large") {
    return new StatusError(message, { ...shared, code: "RESOURCE_EXHAUSTED", codeSource: "client" });
  }
  if (reason === "source") {
    if (cause instanceof SourceError) return sourceError(cause, shared);
    return new StatusError(message, { ...shared, code: "FAILED_PRECONDITION", codeSource: "client" });
  }
  const code = phase === "body" ? "INTERNAL" : "UNAVAILABLE";
  const hint = phase === "connect" ? adviceFor(networkCode(cause)) : undefined;
  return new StatusError(message, { ...shared, code, codeSource: "transport", hint });
}

/** The error of a file that cannot be sent as what it was taken for. */
export function sourceError(
  { code, message, hint, cause }: SourceError,
  details: Pick<StatusErrorDetails, "operation" | "executed" | "httpStatus">,
): StatusError {
  return new StatusError(message, { ...details, code, codeSource: "client", hint, cause });
}

// Trying again helps none of these.
function adviceFor(networkCode: string): string | undefined {
  if (/REFUSED/i.test(networkCode))
    return "Nothing listens at this address: check baseUrl, and that the server or the mock is running.";
  if (networkCode === "ENOTFOUND") return "No host has this name: check baseUrl.";
  if (/CERT|UNABLE_TO_/.test(networkCode))
    return "This machine does not trust the server's certificate: check baseUrl, or name its authority in NODE_EXTRA_CA_CERTS.";
  return undefined;
}

/** The error of a call that its deadline or its caller ended. */
export function endedError(
  operation: OperationId,
  reason: EndReason,
  timeoutMs: number,
  reached: { phase: Phase; status: number | undefined } | undefined,
  cause: unknown,
): StatusError {
  const executed = reached ? executedSoFar(reached.phase, reached.status) : "no";
  const details = { operation, executed, codeSource: "client", httpStatus: reached?.status } as const;
  return reason === "aborted"
    ? new StatusError("The caller aborted the call.", { ...details, code: "CANCELLED", cause })
    : new StatusError(`No complete answer within ${timeoutMs} ms (timeoutMs).`, {
        ...details,
        code: "DEADLINE_EXCEEDED",
      });
}

function executedSoFar(phase: Phase, status: number | undefined): Executed {
  if (phase === "connect") return "no";
  if (status === undefined) return "unknown";
  return status >= 200 && status < 300
    ? "yes"
    : executedOfAnswer(codeOfHttpStatus(status).code, status, false);
}

const told = ["name", "code", "errno", "syscall", "hostname", "address", "port"] as const;

// Network errors can hold the bytes that caused them: only what says what happened is kept.
function withoutKey(cause: unknown, key: string, depth = 0): unknown {
  if (!(cause instanceof Error)) return typeof cause === "string" ? redact(key, cause) : undefined;
  const inner = depth < 3 ? withoutKey(cause.cause, key, depth + 1) : undefined;
  const copy = new Error(redact(key, cause.message), inner === undefined ? undefined : { cause: inner });
  for (const name of told) {
    const value = (cause as { [name in (typeof told)[number]]?: unknown })[name];
    if (typeof value === "number") Object.assign(copy, { [name]: value });
    else if (typeof value === "string") Object.assign(copy, { [name]: redact(key, value) });
  }
  copy.stack = redact(key, cause.stack ?? "");
  return copy;
}

// Failures of attempts that got no whole response, and what hides keys in what a failure tells.
import { explained, hiding } from "#platform";
import { type Executed, executedBecause, type ResponseHeaders, type RetryEvent } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { SourceError } from "../files/fileSource.js";
import { events, rowOfStatus } from "../policy/decisions.js";
import type { Redact } from "../redact/redact.js";
import {
  type Exchange,
  isSuccess,
  type Phase,
  type TransportFailure,
  type TransportResponse,
} from "../transport/exchange.js";
import type { EndReason } from "../transport/time.js";
import { isInstance } from "../values.js";
import { requestIdOf } from "./response.js";

/** The failure of a request that got no whole response, classified by the fields of `seen`, never by its message. */
export function networkFailure(seen: TransportFailure, redact: Redact): Failure {
  const failure = explained(seen);
  const { message, reason, phase, status, cause, hint, reusedSocket, event, code } = failure;
  const executed = executedSoFar(phase, status);
  return new Failure({
    message: redact(message),
    cause: hiding?.redactCause(redact, cause),
    hint,
    ...knownBy(failure),
    ...(event && { events: [event] }),
    ...(code && { code }),
    executed,
    // With the reason `proxy`, the status is the proxy's and not the service's.
    executedBecause: executedBecause(executed, status !== undefined && reason !== "proxy"),
    httpStatus: status,
    reusedSocket,
    // No request was made if the agent, dispatcher or proxy cannot be used, or if other code failed before connecting.
    requested: reason !== "agent" && (reason !== "foreign" || phase !== "connect"),
  });
}

// What a failure's reason decides.
function knownBy({ reason, phase, cause }: TransportFailure): Pick<Failure, "code"> & Partial<Failure> {
  switch (reason) {
    case "connect-timeout":
      return { code: "DEADLINE_EXCEEDED", codeSource: "transport", events: ["neverConnected"] };
    case "attempt-timeout":
      return {
        code: "DEADLINE_EXCEEDED",
        message: "No complete response within attemptTimeoutMs, by default half of timeoutMs.",
        events: [lostIn(phase, "attemptTimeout")],
      };
    case "too-large":
      return { code: "RESOURCE_EXHAUSTED", events: ["tooLarge"] };
    case "agent":
      return { code: "INVALID_ARGUMENT" };
    case "foreign":
      return { code: "INTERNAL" };
    case "source":
      return isInstance(cause, SourceError) ? toldBySource(cause) : { code: "FAILED_PRECONDITION", cause };
    default:
      return {
        code: phase === "body" ? "INTERNAL" : "UNAVAILABLE",
        codeSource: "transport",
        events: [reason === "network" ? lostIn(phase, "connectionLost") : "ended"],
      };
  }
}

function lostIn(phase: Phase, otherwise: RetryEvent): RetryEvent {
  if (phase === "connect") return "neverConnected";
  return phase === "body" ? "bodyLost" : otherwise;
}

/** What the error of a file that cannot be sent says for a {@link Failure}. */
export function toldBySource({ code, message, hint, cause }: SourceError): Unsent {
  return { code, message, hint, cause };
}

type Unsent = Pick<Failure, "code" | "message"> & Partial<Pick<Failure, "hint" | "cause">>;

/** The failure of a response when the part of this package that reads errors cannot be loaded. */
export function unexplained({ status: httpStatus }: Pick<TransportResponse, "status">): Failure {
  const [code, event] = rowOfStatus(httpStatus);
  return new Failure({
    message: `HTTP ${httpStatus}. A part of this package could not be loaded.`,
    code,
    executed: executedSoFar("body", httpStatus),
    codeSource: "status",
    events: [event],
    httpStatus,
  });
}

/** The failure of an attempt that made no request. */
export function unsent(seen: Unsent): Failure {
  return new Failure({ ...seen, executed: "no", requested: false });
}

/** Whether the operation can have run, from how far its request got. */
function executedSoFar(phase: Phase, status: number | undefined): Executed {
  if (phase === "connect") return "no";
  if (status === undefined) return "unknown";
  return isSuccess(status) ? "yes" : events[rowOfStatus(status)[1]].executed;
}

/** The failure of a call that its deadline or its caller ended; `exchange` is the request in flight, if any. */
export function endedFailure(
  reason: EndReason,
  timeoutMs: number,
  exchange: Exchange | undefined,
  cause: unknown,
): Failure {
  const seen = soFar(exchange);
  if (reason === "deadline") {
    const message = `No complete response within ${timeoutMs} ms (timeoutMs).`;
    return new Failure({ ...seen, message, code: "DEADLINE_EXCEEDED", notRetried: "deadline-too-close" });
  }
  const message = reason === "closed" ? "The client was closed." : "The caller aborted the call.";
  return new Failure({ ...seen, message, code: "CANCELLED", notRetried: "aborted", cause });
}

// What is known of a request that was ended in flight; `exchange` is undefined if the transport never got it.
function soFar(exchange: Exchange | undefined): Pick<Failure, "executed" | "httpStatus" | "requested"> {
  const httpStatus = exchange?.response?.status;
  const executed = exchange ? executedSoFar(exchange.phase, httpStatus) : "no";
  return { executed, httpStatus, requested: exchange !== undefined };
}

/** The failure for a fault of this client, or of code passed to it; `exchange` is the request in flight, if any. */
export function unexpectedFailure(error: unknown, redact: Redact, exchange?: Exchange): Failure {
  const message = "The client failed; please report this.";
  const cause = hiding?.redactCause(redact, error);
  return new Failure({ ...soFar(exchange), message, code: "INTERNAL", cause });
}

/**
 * Hides secrets in texts. If the part that finds them is not loaded, a text that is long enough to hold one is left out:
 * no form of a secret is shorter than the secret.
 */
export function redactorIfLoaded(secrets: readonly string[]): Redact {
  const mayHold = (text: string) => secrets.some((each) => each !== "" && text.length + 2 >= each.length);
  return hiding?.redactorOf(secrets) ?? ((text) => (mayHold(text) ? "[redacted]" : text));
}

/** A response's status, request id and headers, without the key. The headers are redacted when they are read. */
export function toldBy(
  { status: httpStatus, headers }: Pick<TransportResponse, "status" | "headers">,
  redact: Redact,
): Pick<Failure, "httpStatus" | "requestId" | "headers"> {
  const id = requestIdOf(headers);
  const requestId = id && redact(id);
  const each = () =>
    Object.fromEntries(Object.entries(headers).map((pair) => pair.map((text) => redact(text))));
  return {
    httpStatus,
    requestId,
    headers: () => (hiding?.redactValues(redact, headers) ?? each()) as ResponseHeaders,
  };
}

// Failures of attempts that got no whole response.
import {
  blamed,
  isBeforeConnection,
  isUnreadable,
  schemeAdvice,
  timedOutByFetch,
  unconnected,
  wordsFor,
} from "#platform";
import { type Executed, executedBecause, type RetryEvent } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { SourceError } from "../files/fileSource.js";
import { events, rowOfStatus } from "../policy/decisions.js";
import { type Redact, redactCause } from "../redact/redact.js";
import {
  type Exchange,
  isSuccess,
  type Phase,
  type TransportFailure,
  type TransportResponse,
} from "../transport/exchange.js";
import type { EndReason } from "../transport/time.js";
import { isInstance, valueOr } from "../values.js";
import { toldBy } from "./response.js";

/** The failure of a request that got no whole response, classified by the fields of `seen`, never by its message. */
export function networkFailure(seen: TransportFailure, redact: Redact): Failure {
  const failure = blamed(seen);
  const { reason, status, reusedSocket } = failure;
  const phase = failure.isGuessed && isBeforeConnection(failure.cause) ? "connect" : failure.phase;
  const message = redact(failure.message);
  const cause = reason === "source" ? failure.cause : redactCause(redact, failure.cause);
  const executed = executedSoFar(phase, status);
  const gaveUp = reason === "network" ? timedOutByFetch(failure) : undefined;
  const isWorded = reason === "network" && phase !== "body";
  const known = phase === "connect" ? unconnected(failure) : undefined;
  // What is not HTTP once would most likely not be HTTP again: it counts as a fault of the service, not of the network.
  const garbled = isWorded && isUnreadable(failure) ? ("unnamedFault" as const) : undefined;
  return new Failure({
    message: isWorded ? valueOr(() => redact(wordsFor(message, failure.cause)), message) : message,
    executed,
    // With the reason `proxy`, the status is the proxy's and not the service's.
    executedBecause: executedBecause(executed, status !== undefined && reason !== "proxy"),
    events: [known?.event ?? garbled ?? eventOfFailure(phase, gaveUp ? "attempt-timeout" : reason)],
    httpStatus: status,
    cause,
    hint: known?.hint ?? gaveUp ?? schemeAdvice(failure),
    reusedSocket,
    ...namedBy(failure),
    ...(gaveUp && { code: "DEADLINE_EXCEEDED" as const }),
    ...(known?.code && { code: known.code }),
    // No request was made if the agent, dispatcher or proxy cannot be used, or if other code failed before connecting.
    requested: reason !== "agent" && (reason !== "foreign" || phase !== "connect"),
  });
}

/** The failure of a response when the part of this package that reads errors cannot be loaded. */
export function unexplained(
  response: Pick<TransportResponse, "status" | "headers">,
  redact: Redact,
): Failure {
  const { code, event } = rowOfStatus(response.status);
  return new Failure({
    message: `HTTP ${response.status}. A part of this package could not be loaded.`,
    code,
    executed: executedSoFar("body", response.status),
    codeSource: "status",
    events: [event],
    ...toldBy(response, redact),
  });
}

/** The failure of an attempt that made no request. */
export function unsent(
  seen: Pick<Failure, "code" | "message"> & Partial<Pick<Failure, "hint" | "cause">>,
): Failure {
  return new Failure({ ...seen, executed: "no", requested: false });
}

// What a failure's reason decides: its code and codeSource, and for an attempt timeout or a file also its message.
function namedBy({
  reason,
  phase,
  cause,
}: TransportFailure): Pick<Failure, "code"> & Partial<Pick<Failure, "codeSource" | "message">> {
  switch (reason) {
    case "connect-timeout":
      return { code: "DEADLINE_EXCEEDED", codeSource: "transport" };
    case "attempt-timeout":
      return { code: "DEADLINE_EXCEEDED", message: attemptTimedOut };
    case "too-large":
      return { code: "RESOURCE_EXHAUSTED" };
    case "agent":
    case "foreign":
      return { code: reason === "agent" ? "INVALID_ARGUMENT" : "INTERNAL" };
    case "source":
      return isInstance(cause, SourceError) ? namedBySource(cause) : { code: "FAILED_PRECONDITION" };
    default:
      return { code: phase === "body" ? "INTERNAL" : "UNAVAILABLE", codeSource: "transport" };
  }
}

/** What the error of a file that cannot be sent says for a {@link Failure}. */
export function namedBySource({ code, message, hint, cause }: SourceError): Parameters<typeof unsent>[0] {
  return { code, message, hint, cause };
}

const attemptTimedOut = "No complete response within attemptTimeoutMs, by default half of timeoutMs.";

// Which event of the decision table (policy/decisions.ts) ended a request that got no whole response.
function eventOfFailure(phase: Phase, reason: TransportFailure["reason"]): RetryEvent {
  if (reason === "connect-timeout") return "neverConnected";
  if (reason === "attempt-timeout") return timeoutEvents[phase];
  if (reason === "too-large") return "tooLarge";
  if (reason !== "network") return "ended";
  if (phase === "body") return "bodyLost";
  return phase === "connect" ? "neverConnected" : "connectionLost";
}

const timeoutEvents: Readonly<Record<Phase, RetryEvent>> = {
  connect: "neverConnected",
  send: "attemptTimeout",
  headers: "attemptTimeout",
  body: "bodyLost",
};

/** Whether the operation can have run, from how far its request got. */
function executedSoFar(phase: Phase, status: number | undefined): Executed {
  if (phase === "connect") return "no";
  if (status === undefined) return "unknown";
  return isSuccess(status) ? "yes" : events[rowOfStatus(status).event].executed;
}

/** The failure of a call that its deadline or its caller ended; `exchange` is the request in flight, if any. */
export function endedFailure(
  reason: EndReason,
  timeoutMs: number,
  exchange: Exchange | undefined,
  cause: unknown,
): Failure {
  const shared = soFar(exchange);
  if (reason === "deadline") {
    const message = `No complete response within ${timeoutMs} ms (timeoutMs).`;
    return new Failure({ ...shared, message, code: "DEADLINE_EXCEEDED", notRetried: "deadline-too-close" });
  }
  const message = reason === "closed" ? "The client was closed." : "The caller aborted the call.";
  return new Failure({ ...shared, message, code: "CANCELLED", notRetried: "aborted", cause });
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
  const cause = redactCause(redact, error);
  return new Failure({ ...soFar(exchange), message, code: "INTERNAL", cause });
}

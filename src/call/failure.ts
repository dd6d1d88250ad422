import { isBeforeConnection, mocked, unconnected, wordsFor } from "#platform";
import type { CodeSource, Executed, NotRetried, StatusCode, StatusErrorDetails } from "../errors/codes.js";
import { SourceError } from "../files/fileSource.js";
import { events, type RetryEvent, rowOfStatus } from "../policy/decisions.js";
import { redactCause, redactorOf } from "../redact/redact.js";
import {
  type Exchange,
  type FailureReason,
  isSuccess,
  type Phase,
  type TransportFailure,
  type Unconnected,
} from "../transport/transport.js";
import { isInstance, valueOr } from "../values.js";
import type { EndReason } from "./deadline.js";

/** What is known of a failed attempt. */
interface FailureDetails {
  readonly message: string;
  readonly code: StatusCode;
  readonly executed: Executed;
  readonly codeSource: CodeSource;
  /** Whether this client chose the code. @default true */
  readonly inferred?: boolean;
  /** What happened; with several, the one that allows fewest retries counts. */
  readonly events: readonly RetryEvent[];
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  /** Makes the headers of the response that began. */
  readonly headers?: StatusErrorDetails["headers"];
  readonly retryAfterMs?: number | undefined;
  readonly body?: unknown;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** Why there is no other attempt, where the decision table does not say it. */
  readonly notRetried?: NotRetried;
  /** Whether it was sent on a connection that had been idle, and lost with it. @default false */
  readonly reusedSocket?: boolean | undefined;
  /** Whether nothing was sent although there is a status: a proxy's, that opened no tunnel. @default false */
  readonly neverSent?: boolean;
  /** Whether a request was made at all. @default true */
  readonly requested?: boolean;
}

/** What a failure is made of: unless it says so, this client named the code, and ended the call. */
export type FailureInput = Omit<FailureDetails, "codeSource" | "events"> &
  Partial<Pick<FailureDetails, "codeSource" | "events">>;

const ofThisClient: Pick<FailureDetails, "codeSource" | "events"> = {
  codeSource: "client",
  events: ["ended"],
};

/** A failed attempt, as a value: the call's one StatusError is made of the last of them. */
export class Failure {
  declare readonly details: FailureDetails;
  constructor(details: FailureInput) {
    // Its own members only: a polluted prototype says nothing of what happened.
    this.details = Object.assign(Object.create(null), ofThisClient, details);
  }
}

/** The failure of a request that brought no whole answer. What happened is read from the failure itself: no text changes it. */
export function networkFailure(failure: TransportFailure, secrets: readonly string[]): Failure {
  const { reason, status, cause: found, reusedSocket } = failure;
  const phase = failure.isGuessed && isBeforeConnection(found) ? "connect" : failure.phase;
  const redact = redactorOf(secrets);
  const message = redact(failure.message);
  const cause = reason === "source" ? found : redactCause(redact, found);
  const mock = reason === "network" ? mocked(found, message, (words) => unmatched(words, cause)) : undefined;
  if (mock) return mock;
  const isWorded = reason === "network" && phase !== "body";
  const { event, code, hint } = (phase === "connect" && unconnected(failure)) || nothing;
  return new Failure({
    message: isWorded ? valueOr(() => redact(wordsFor(message, found)), message) : message,
    executed: executedSoFar(phase, status),
    events: [event ?? eventOfFailure(phase, reason)],
    httpStatus: status,
    cause,
    hint,
    reusedSocket,
    neverSent: reason === "proxy",
    ...namedBy(failure),
    ...(code && { code }),
    // Nothing was sent with an agent that node:http refuses, nor to a mock without a response.
    requested: reason !== "agent" && (reason !== "foreign" || phase !== "connect"),
  });
}

/** A mock without a response for a request: nobody else has seen it. */
export function unmatched(words: Pick<FailureInput, "message" | "hint">, cause?: unknown): Failure {
  return new Failure({ ...words, code: "INTERNAL", executed: "no", cause, requested: false });
}

// The code and who chose it; a source that failed has words of its own.
function namedBy({ reason, phase, cause }: TransportFailure): Named {
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

type Named = Pick<FailureInput, "code" | "codeSource" | "hint" | "cause"> & { readonly message?: string };

function namedBySource({ code, message, hint, cause }: SourceError): Named & { readonly message: string } {
  return { code, message, hint, cause };
}

/** The refusal of a file that cannot be sent, before anything is. */
export function sourceFailure(error: SourceError): Failure {
  return new Failure({ ...namedBySource(error), executed: "no", requested: false });
}

const nothing: Partial<Unconnected> = Object.create(null);

const attemptTimedOut = "No complete answer to this attempt in time (attemptTimeoutMs).";

// The event of a request that brought no whole answer.
function eventOfFailure(phase: Phase, reason: FailureReason): RetryEvent {
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

/** How far a request got tells whether the operation can have run. */
function executedSoFar(phase: Phase, status: number | undefined): Executed {
  if (phase === "connect") return "no";
  if (status === undefined) return "unknown";
  return isSuccess(status) ? "yes" : events[rowOfStatus(status).event].executed;
}

/** The failure of a call that its deadline or its caller ended; `exchange` is what it had under way. */
export function endedFailure(
  reason: EndReason,
  timeoutMs: number,
  exchange: Exchange | undefined,
  cause: unknown,
): Failure {
  const shared = soFar(exchange);
  if (reason === "deadline") {
    const message = `No complete answer within ${timeoutMs} ms (timeoutMs).`;
    return new Failure({ ...shared, message, code: "DEADLINE_EXCEEDED", notRetried: "deadline-too-close" });
  }
  const message = reason === "closed" ? "The client was closed." : "The caller aborted the call.";
  return new Failure({ ...shared, message, code: "CANCELLED", notRetried: "aborted", cause });
}

// What is known of a request that ended on the way; undefined before it was handed to the transport.
function soFar(
  exchange: Exchange | undefined,
): Pick<FailureDetails, "executed" | "httpStatus" | "requested"> {
  const httpStatus = exchange?.answer?.status;
  const executed = exchange ? executedSoFar(exchange.phase, httpStatus) : "no";
  return { executed, httpStatus, requested: exchange !== undefined };
}

/** A fault of this client's own, or of what a program put in its way: of the service it proves no more than was known. */
export function unexpectedFailure(error: unknown, secrets: readonly string[], exchange?: Exchange): Failure {
  const message = "The client failed; please report this.";
  const cause = redactCause(redactorOf(secrets), error);
  return new Failure({ ...soFar(exchange), message, code: "INTERNAL", cause });
}

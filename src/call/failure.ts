import type { CodeSource, Executed, NotRetried, StatusCode } from "../errors/codes.js";
import { memberOf } from "../errors/memberOf.js";
import { redactCause, redactor } from "../errors/redact.js";
import { SourceError } from "../files/sourceError.js";
import {
  type Exchange,
  type FailureReason,
  networkCode,
  type Phase,
  type TransportFailure,
} from "../transport/transport.js";
import type { EndReason } from "./deadline.js";
import { events, type RetryEvent } from "./decisions.js";
import { rowOfStatus } from "./httpStatus.js";
import { adviceFor, wordsFor } from "./networkWords.js";

/** What is known of a failed attempt. */
export interface FailureDetails {
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
  readonly retryAfterMs?: number | undefined;
  readonly body?: unknown;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** Why there is no other attempt, where the decision table does not say it. */
  readonly notRetried?: NotRetried;
  /** Whether a request was made at all. @default true */
  readonly requested?: boolean;
}

/** A failed attempt, as a value: the call's one StatusError is made of the last of them. */
export class Failure {
  readonly details: FailureDetails;
  constructor(details: FailureDetails) {
    // Its own members only: a polluted prototype says nothing of what happened.
    this.details = Object.assign(Object.create(null), details);
  }
}

/** The failure of a request that brought no whole answer. */
export function networkFailure(failure: TransportFailure, key: string): Failure {
  const { phase, reason, status } = failure;
  const redact = redactor(key);
  const found = memberOf(failure, "cause");
  const cause = reason === "source" ? found : redactCause(redact, found);
  const name = networkCode(cause);
  const network = reason === "network";
  const message = redact(failure.message);
  return new Failure({
    message: network && phase !== "body" ? wordsFor(message) : message,
    executed: executedSoFar(failure),
    events: [eventOfFailure(phase, reason, name)],
    httpStatus: status,
    cause,
    hint: network && phase === "connect" ? adviceFor(name) : undefined,
    ...namedBy(failure),
    // An agent that node:http refuses has sent nothing.
    requested: reason !== "agent",
  });
}

// The code and who chose it; a source that failed has words of its own.
function namedBy({ reason, phase, cause }: TransportFailure): Named {
  switch (reason) {
    case "connect-timeout":
      return { code: "DEADLINE_EXCEEDED", codeSource: "transport" };
    case "attempt-timeout":
      return { code: "DEADLINE_EXCEEDED", codeSource: "client", message: attemptTimedOut };
    case "too-large":
      return { code: "RESOURCE_EXHAUSTED", codeSource: "client" };
    case "agent":
      return { code: "INVALID_ARGUMENT", codeSource: "client" };
    case "source":
      return cause instanceof SourceError
        ? namedBySource(cause)
        : { code: "FAILED_PRECONDITION", codeSource: "client" };
    default:
      return { code: phase === "body" ? "INTERNAL" : "UNAVAILABLE", codeSource: "transport" };
  }
}

type Named = Pick<FailureDetails, "code" | "codeSource" | "hint" | "cause"> & { readonly message?: string };

function namedBySource({ code, message, hint, cause }: SourceError): Named & { readonly message: string } {
  return { code, codeSource: "client", message, hint, cause };
}

/** The refusal of a file that cannot be sent, before anything is. */
export function sourceFailure(error: SourceError): Failure {
  return new Failure({ ...namedBySource(error), executed: "no", events: ["ended"], requested: false });
}

const attemptTimedOut = "No complete answer to this attempt in time (attemptTimeoutMs).";

// Refused, unreachable, or a name server that asks for another try.
const transient =
  /^(ECONNREFUSED|ConnectionRefused|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/;

/** The event of a request that brought no whole answer. @param code What the network called it. */
export function eventOfFailure(phase: Phase, reason: FailureReason, code: string): RetryEvent {
  if (reason === "connect-timeout") return "neverConnected";
  if (reason === "attempt-timeout") return phase === "body" ? "bodyLost" : "attemptTimeout";
  if (reason === "too-large") return "tooLarge";
  if (reason !== "network") return "ended";
  if (phase === "body") return "bodyLost";
  if (phase !== "connect") return "connectionLost";
  if (code === "ENOTFOUND") return "nameNotFound";
  return transient.test(code) ? "neverConnected" : "tlsFailure";
}

/** How far a request got tells whether the operation can have run. */
function executedSoFar({ phase, status }: { phase: Phase; status: number | undefined }): Executed {
  if (phase === "connect") return "no";
  if (status === undefined) return "unknown";
  return status >= 200 && status < 300 ? "yes" : events[rowOfStatus(status).event].executed;
}

/** The failure of a call that its deadline or its caller ended; `exchange` is what it had under way. */
export function endedFailure(
  reason: EndReason,
  timeoutMs: number,
  exchange: Exchange | undefined,
  cause: unknown,
): Failure {
  const shared = {
    executed: exchange ? executedSoFar(exchange) : "no",
    codeSource: "client",
    httpStatus: exchange?.status,
    events: ["ended"],
    requested: exchange !== undefined,
  } as const;
  return reason === "aborted"
    ? new Failure({
        ...shared,
        message: "The caller aborted the call.",
        code: "CANCELLED",
        notRetried: "aborted",
        cause,
      })
    : new Failure({
        ...shared,
        message: `No complete answer within ${timeoutMs} ms (timeoutMs).`,
        code: "DEADLINE_EXCEEDED",
        notRetried: "deadline-too-close",
      });
}

/** A fault of this client's own: it proves nothing of what the service did. */
export function unexpectedFailure(cause: unknown): Failure {
  return new Failure({
    message: "The client failed; please report this.",
    code: "INTERNAL",
    executed: "unknown",
    codeSource: "client",
    events: ["ended"],
    cause,
  });
}

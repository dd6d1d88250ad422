import type { RetryEvent } from "../call/decisions.js";
import { budget } from "../call/decisions.js";
import { type Decision, decideRetry, eventsOfAnswer, waitBeforeRetry } from "../call/retry.js";
import type { StatusError } from "../errors/statusError.js";

/** What is known of a request when one of its attempts has failed. */
export interface FailedAttempt {
  readonly error: StatusError;
  /** Retries made so far. */
  readonly retries: number;
  /** Milliseconds until the request's deadline. */
  readonly timeLeftMs: number;
  /** Whether a 401 was answered with a fresh key already. */
  readonly renewed: boolean;
  /** A number from 0 up to 1. */
  readonly random: number;
}

/**
 * Whether a request of a bulk run is tried again, and when: what the decision table retries at all is retried for as
 * long as the request has time, however often that is. Pure.
 */
export function decide({ error, retries, timeLeftMs, renewed, random }: FailedAttempt): Decision {
  const { code, notRetried, retryAfterMs } = error;
  // With no retries to spend, this is what a call says of everything that the table retries.
  if (notRetried !== "retries-used-up")
    return { waitMs: undefined, notRetried: notRetried ?? "not-transient" };
  const events = eventsOf(error);
  const allowed = decideRetry({
    operation: "rerankDocuments",
    repeatable: undefined,
    events,
    code,
    retries: 0,
    maxRetries: 1,
    retryAfterMs: undefined,
    timeLeftMs: Number.POSITIVE_INFINITY,
    budget: budget.full,
    replayable: true,
    freshKey: !renewed,
    random: 0,
  });
  if (allowed.waitMs === undefined) return allowed;
  const waitMs = waitBeforeRetry({ code, events, retries, retryAfterMs, random });
  return waitMs < timeLeftMs
    ? { waitMs, notRetried: undefined }
    : { waitMs: undefined, notRetried: "deadline-too-close" };
}

// An error names its code and who said it; the table's row of an answer follows from that, and what the network or this
// client reported was found to be transient by the call itself.
function eventsOf({
  code,
  codeSource,
  httpStatus,
  executed,
  retryAfterMs,
}: StatusError): readonly RetryEvent[] {
  if (httpStatus !== undefined && (codeSource === "body" || codeSource === "status")) {
    const named = codeSource === "body" ? code : undefined;
    return eventsOfAnswer(named, httpStatus, retryAfterMs !== undefined);
  }
  return [transientEvents[executed]];
}

const transientEvents = { no: "neverConnected", unknown: "connectionLost", yes: "bodyLost" } as const;

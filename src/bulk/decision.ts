import type { RetryEvent } from "../call/decisions.js";
import { budget } from "../call/decisions.js";
import { type Decision, decideRetry, eventsOfAnswer, waitBeforeRetry } from "../call/retry.js";
import type { StatusError } from "../errors/statusError.js";
import type { Held } from "./held.js";

/** What is known of a request when one of its attempts has failed. */
export interface FailedAttempt {
  readonly error: StatusError;
  readonly held: Pick<Held<unknown>, "retries" | "renewed" | "endsAt">;
  readonly now: number;
  /** The longest that the service may ask all to wait, in milliseconds. */
  readonly maxHoldMs: number;
  /** A number from 0 up to 1. */
  readonly random: number;
}

/** Whether a failure may pass: a call that has no retries to spend says one of these of everything transient. */
export function isTransient({ notRetried }: StatusError): boolean {
  return notRetried === "retries-used-up" || notRetried === "deadline-too-close";
}

/** How long the service asks all requests to wait, in milliseconds; 0 when it asks for nothing. */
export function holdAskedBy({ notRetried, retryAfterMs = 0 }: StatusError): number {
  return notRetried === "retries-used-up" ? retryAfterMs : 0;
}

/**
 * Whether a request of a bulk run is tried again, and when: what the decision table retries at all is retried for as
 * long as the request has time, however often that is. Pure.
 */
export function decide({ error, held, now, maxHoldMs, random }: FailedAttempt): Decision {
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
    freshKey: !held.renewed,
    random: 0,
  });
  if (allowed.waitMs === undefined) return allowed;
  if (holdAskedBy(error) > maxHoldMs) return { waitMs: undefined, notRetried: "asked-to-wait-too-long" };
  const waitMs = waitBeforeRetry({ code, events, retries: held.retries, retryAfterMs, random });
  return waitMs < held.endsAt - now
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

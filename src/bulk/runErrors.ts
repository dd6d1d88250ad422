import type { StatusErrorDetails } from "../errors/details.js";
import { detailsOf, isStatusError, StatusError } from "../errors/statusError.js";
import type { Lane } from "../policy/lane.js";
import type { Ran } from "../policy/retry.js";
import type { RerankAllError } from "./options.js";

/** What a run had come to when it ended. */
export interface RunProgress<Id> {
  readonly done: number;
  readonly notDone: readonly Id[];
  readonly ran: Ran;
}

/** What is known of a request that was answered. */
export const ranWell: Ran = { executed: "yes", executedBecause: "success-began" };
/** The same of one that is under way. */
export const underWay: Ran = { executed: "unknown", executedBecause: "no-answer" };

/** The error that ends a run: that of a request, with what is not done. */
export function endedBy<Id>(error: StatusError, progress: RunProgress<Id>): RerankAllError<Id> {
  return withProgress(error.text, detailsOf(error), progress);
}

/** The same for a run that its caller or its deadline ended. */
export function endedAs<Id>(
  reason: "aborted" | "deadline",
  { cause, totalTimeoutMs }: { cause?: unknown; totalTimeoutMs?: number | undefined },
  progress: RunProgress<Id>,
): RerankAllError<Id> {
  const shared = { codeSource: "client", operation: "rerankDocuments" } as const;
  if (reason === "aborted") {
    const details = { ...shared, code: "CANCELLED", notRetried: "aborted", cause } as const;
    return withProgress("The caller aborted the run.", details, progress);
  }
  const details = {
    ...shared,
    code: "DEADLINE_EXCEEDED",
    notRetried: "deadline-too-close",
    hint: "Allow more time with totalTimeoutMs. Repeating what is not done is safe.",
  } as const;
  return withProgress(
    `The run was not over within ${totalTimeoutMs} ms (totalTimeoutMs).`,
    details,
    progress,
  );
}

/** The same for a run that the service asks to wait for too long. @param error That of the request that was told so */
export function endedByHold<Id>(
  error: StatusError,
  maxHoldMs: number,
  progress: RunProgress<Id>,
): RerankAllError<Id> {
  const { retryAfterMs = 0, httpStatus, requestId, headers, attempts } = error;
  const longest =
    maxHoldMs === 0
      ? "never waits (maxHoldMs is 0)"
      : `waits no longer than ${maxHoldMs / 1000} s (maxHoldMs)`;
  const details = {
    code: "RESOURCE_EXHAUSTED",
    codeSource: "client",
    operation: "rerankDocuments",
    notRetried: "asked-to-wait-too-long",
    ...{ retryAfterMs, httpStatus, requestId, headers, attempts, cause: error },
    hint: "Go on after that time with what is not done, or allow a longer wait with maxHoldMs.",
  } as const;
  const text = `The service asks to wait ${retryAfterMs / 1000} s, and the run ${longest}.`;
  return withProgress(text, details, progress);
}

function withProgress<Id>(
  message: string,
  details: Omit<StatusErrorDetails, "executed">,
  { done, notDone, ran }: RunProgress<Id>,
): RerankAllError<Id> {
  const text = `${message} The run ended with ${done} results handed out and ${notDone.length} requests begun`;
  const { executed, executedBecause } = ran;
  const error = new StatusError(text, { ...details, executed, executedBecause });
  return Object.assign(error, { done, notDone });
}

/** Whether no other request of the run can fare better: the key is refused, or the client cannot call at all. */
export function endsRun(error: StatusError, progress: Lane["progress"]): boolean {
  if (error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED") return true;
  const refusedHere = error.codeSource === "client" && error.attempts.length === 0;
  // What is refused by a client that could make the call, before it made a request ready, is what it was given.
  const isClients = progress !== "admitted" || error.path !== undefined;
  return refusedHere && error.notRetried === "refused" && isClients;
}

/** Whatever a call rejected with, as a StatusError: of what is none nobody knows whether it ran. */
export function asStatusError(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  const { executed, executedBecause } = underWay;
  const details = {
    executed,
    executedBecause,
    code: "INTERNAL",
    codeSource: "client",
    cause: error,
  } as const;
  return new StatusError("The request failed.", details);
}

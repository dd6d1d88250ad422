import { nothingSent, type Ran, worse } from "../call/retry.js";
import type { NotRetried } from "../errors/codes.js";
import type { Attempt } from "../errors/details.js";
import { reasonFor } from "../errors/hints.js";
import { detailsOf, invalid, StatusError } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import type { AttemptEvent } from "../options/callOptions.js";
import type { RerankAllRequest } from "./options.js";

/** A request that was taken from the source and has no result yet. */
export interface Held<Id> {
  readonly id: Id;
  /** Its place in the source, from 0. */
  readonly number: number;
  readonly body: RerankRequest;
  /** What is wrong with it, when that is known without asking. */
  readonly wrong: StatusError | undefined;
  /** The attempts that failed. */
  readonly attempts: Attempt[];
  ran: Ran;
  retries: number;
  /** Whether a 401 was answered with a fresh key. */
  renewed: boolean;
  /** When its time is over; infinite before its first attempt. */
  endsAt: number;
  /** When it may be sent. */
  readyAt: number;
  /** How its last attempt failed. */
  error: StatusError | undefined;
  /** The event of its last attempt, when somebody listens. */
  event: AttemptEvent | undefined;
}

/** Takes a request in: its id stays here, all other fields are the body. */
export function hold<Id>(request: RerankAllRequest<Id>, number: number): Held<Id> {
  const isObject = typeof request === "object" && request !== null;
  const { id, ...body } = isObject ? request : ({} as RerankAllRequest<Id>);
  const wrong =
    isObject && Object.hasOwn(request, "id") ? undefined : invalid(`requests[${number}] has no id.`);
  return {
    id,
    number,
    body,
    wrong,
    attempts: [],
    ran: nothingSent,
    retries: 0,
    renewed: false,
    endsAt: Number.POSITIVE_INFINITY,
    readyAt: 0,
    error: undefined,
    event: undefined,
  };
}

/** Notes how an attempt failed. */
export function noteFailure<Id>(held: Held<Id>, error: StatusError): void {
  for (const attempt of error.attempts) held.attempts.push({ ...attempt, number: held.attempts.length + 1 });
  held.ran = worse(held.ran, error);
  held.error = error;
}

/** Notes that there is another attempt. @param wasTooMany Whether the last was more than this machine can make at once */
export function noteRetry<Id>(
  held: Held<Id>,
  error: StatusError,
  readyAt: number,
  wasTooMany: boolean,
): void {
  if (error.code === "UNAUTHENTICATED") held.renewed = true;
  else if (!wasTooMany) held.retries += 1;
  // Its time begins with an attempt that can be made. Each time there are fewer at once, so this ends.
  else if (held.retries === 0) held.endsAt = Number.POSITIVE_INFINITY;
  held.readyAt = readyAt;
}

/** The error of a request, of all its attempts together. @param notRetried Why there is no other */
export function errorOf<Id>(held: Held<Id>, error: StatusError, notRetried: NotRetried): StatusError {
  if (held.attempts.length === error.attempts.length && error.notRetried === notRetried) return error;
  const { executed, executedBecause } = held.ran;
  const { attempts } = held;
  const { retryAfterMs } = error;
  // How long it waits is the run's to say.
  const reasonTold = notRetried === "asked-to-wait-too-long" ? undefined : notRetried;
  // What was advised stays; why there was no other attempt is another now.
  return new StatusError(error.text, {
    ...detailsOf(error),
    executed,
    executedBecause,
    notRetried,
    attempts,
    reason: reasonFor({ retryAfterMs, notRetried: reasonTold, attempts }),
  });
}

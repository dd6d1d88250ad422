// What a call tells of its attempts, and of its failure.

import type { NotRetried } from "../errors/codes.js";
import type { Attempt, OperationName, StatusErrorDetails, Target } from "../errors/details.js";
import { wholeHint } from "../errors/hints.js";
import { StatusError } from "../errors/statusError.js";
import type { Ran } from "../policy/retry.js";
import type { TransportResponse } from "../transport/transport.js";
import { requestIdOf } from "./answer.js";
import type { Failure } from "./failure.js";
import type { PreparedRequest } from "./types.js";

/** Where a call goes. */
export function targetOf(operation: OperationName, { method, url }: PreparedRequest): Target {
  return { operation, method, path: url.pathname, host: url.host };
}

/** An attempt that was answered as it should be. */
export function successRecord(answer: TransportResponse, number: number, durationMs: number): Attempt {
  const requestId = requestIdOf(answer.headers);
  return { number, durationMs, httpStatus: answer.status, ...(requestId !== undefined && { requestId }) };
}

/** An attempt that failed. */
export function failureRecord({ details }: Failure, number: number, durationMs: number): Attempt {
  const { code, httpStatus, requestId, cause } = details;
  return {
    number,
    durationMs,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(requestId !== undefined && { requestId }),
    ...(cause !== undefined && { cause }),
  };
}

/** The one error of a call, made where the call ends. @param ran What all of its attempts tell together. */
export function callError(
  target: Target,
  { details }: Failure,
  ran: Ran,
  { attempts, notRetried }: { readonly attempts: readonly Attempt[]; readonly notRetried: NotRetried },
): StatusError {
  // Nothing is inherited: the hint is written from what is there.
  const whole: StatusErrorDetails = Object.assign(Object.create(null), details, ran, target, {
    notRetried: details.notRetried ?? notRetried,
    attempts,
  });
  // What the last attempt advises does not fit when an earlier one may have run.
  const advice = ran.executed === details.executed ? details.hint : undefined;
  const hint = advice && wholeHint(whole, advice);
  return new StatusError(details.message, { ...whole, hint });
}

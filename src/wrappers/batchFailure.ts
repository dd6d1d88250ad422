import { worse } from "../call/retry.js";
import type { Executed } from "../errors/codes.js";
import { type Attempt, isStatusError, StatusError } from "../errors/statusError.js";

/** The requests of one call that is made of batches, batch by batch as they ended. */
export class RequestsMade {
  readonly attempts: Attempt[] = [];
  /** Whether any of them ran. */
  executed: Executed = "no";

  add(attempts: readonly Attempt[], executed: Executed): void {
    this.attempts.push(...attempts);
    this.executed = worse(this.executed, executed);
  }

  /** Adds what a batch made before it failed. */
  addFailed(error: unknown): void {
    if (isStatusError(error)) this.add(error.attempts, error.executed);
  }
}

/** Which items a batch is made of. */
export interface BatchRange {
  readonly offset: number;
  readonly count: number;
}

/** The error of a whole call, one of whose batches failed: with every request made, in terms of the caller's items. */
export function errorOfBatches(error: unknown, batch: BatchRange, made: RequestsMade): unknown {
  if (!isStatusError(error)) return error;
  const { code, codeSource, inferred, httpStatus, requestId, retryAfterMs, body, hint, cause } = error;
  const message = withItems(error.message.slice(`[${code}] `.length), batch);
  const { executed, attempts } = made;
  return new StatusError(message, {
    operation: "rerankDocuments",
    ...{ code, codeSource, inferred, httpStatus, requestId, retryAfterMs, body, hint, cause },
    executed,
    attempts,
  });
}

// A service knows the documents of one request only, and writes their places in several ways.
function withItems(message: string, { offset, count }: BatchRange): string {
  return message.replace(/\bdocuments(?:\[(\d{1,9})\]|[./](\d{1,9})\b)/g, (place, inBrackets, afterDot) => {
    const index = Number(inBrackets ?? afterDot);
    return index < count ? `items[${offset + index}]` : place;
  });
}

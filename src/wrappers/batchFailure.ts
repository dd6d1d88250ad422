import { nothingSent, type Ran, worse } from "../call/retry.js";
import { type Attempt, detailsOf, isStatusError, StatusError, textOf } from "../errors/statusError.js";

/** The requests of one call that is made of batches, batch by batch as they ended. */
export class RequestsMade {
  readonly attempts: Attempt[] = [];
  /** Whether any of them ran. */
  ran: Ran = nothingSent;

  add(attempts: readonly Attempt[], ran: Ran): void {
    this.attempts.push(...attempts);
    this.ran = worse(this.ran, ran);
  }

  /** Adds what a batch made before it failed. */
  addFailed(error: unknown): void {
    if (isStatusError(error)) this.add(error.attempts, error);
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
  const { executed, executedBecause } = made.ran;
  return new StatusError(withItems(textOf(error), batch), {
    ...detailsOf(error),
    operation: "rerankDocuments",
    executed,
    executedBecause,
    attempts: made.attempts,
  });
}

// A service knows the documents of one request only, and writes their places in several ways.
function withItems(message: string, { offset, count }: BatchRange): string {
  return message.replace(/\bdocuments(?:\[(\d{1,9})\]|[./](\d{1,9})\b)/g, (place, inBrackets, afterDot) => {
    const index = Number(inBrackets ?? afterDot);
    return index < count ? `items[${offset + index}]` : place;
  });
}

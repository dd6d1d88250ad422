import type { OperationName } from "../errors/codes.js";
import { isStatusError, StatusError } from "../errors/statusError.js";

/** What Temporal takes as the result of an activity, unless its server says otherwise: 2 MB, less what it adds itself. */
export const mostResultBytes: number = 2 * 1024 * 1024 - 1024;

/**
 * The result of an activity, if Temporal takes it. One that is too large would not arrive, and be paid for again each time.
 * @throws StatusError `RESOURCE_EXHAUSTED`, which is not retried
 */
export function fitting<T>(result: T, mostBytes: number, operation: OperationName): T {
  const bytes = bytesOf(result);
  if (bytes <= mostBytes) return result;
  const size = Number.isFinite(bytes) ? `is ${bytes} bytes of JSON` : "cannot be written as JSON";
  throw new StatusError(
    `The result ${size}: Temporal takes at most 2 MB, here ${mostBytes} bytes (maxResultBytes).`,
    {
      code: "RESOURCE_EXHAUSTED",
      executed: "yes",
      executedBecause: "success-began",
      codeSource: "client",
      operation,
      notRetried: "not-transient",
      hint: "Ask for fewer documents with top_n, and not for their texts, or use rerankChunk, whose rows do not pass through Temporal.",
    },
  );
}

function bytesOf(result: unknown): number {
  if (result === undefined) return 0;
  try {
    return new TextEncoder().encode(JSON.stringify(result)).length;
  } catch {
    // It is nested too deeply, or too long.
    return Number.POSITIVE_INFINITY;
  }
}

/** What a client comes to; of one of the caller's own, whatever it throws as a StatusError. */
export async function calledClient<T>(operation: OperationName, call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw new StatusError("The client failed.", {
      code: "INTERNAL",
      executed: "unknown",
      codeSource: "client",
      operation,
      hint: "See cause.",
      cause: error,
    });
  }
}

import type { OperationName } from "../errors/codes.js";
import { StatusError } from "../errors/statusError.js";

/** The largest activity result in bytes that Temporal accepts by default: 2 MiB, less what Temporal itself adds. */
export const mostResultBytes: number = 2 * 1024 * 1024 - 1024;

/**
 * Returns the result of an activity if Temporal accepts its size. A larger result would be lost, and each retry of the
 * activity would be paid for.
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
    // JSON.stringify fails if the result is nested too deeply, or is too long.
    return Number.POSITIVE_INFINITY;
  }
}

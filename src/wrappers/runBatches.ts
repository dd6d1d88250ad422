import type { AbortSignalLike } from "../options/callOptions.js";

/** Why batches were ended. */
export interface BatchFailure {
  readonly batch: number;
  readonly error: unknown;
}

/** Runs batches by number, so many at once. One that fails ends all: it is what this resolves to, once all have ended. */
export async function runBatches(
  batches: number,
  concurrency: number,
  callersSignal: AbortSignalLike | undefined,
  run: (batch: number, signal: AbortSignalLike) => Promise<void>,
): Promise<BatchFailure | undefined> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(callersSignal?.reason);
  let next = 0;
  let failure: BatchFailure | undefined;
  const lane = async (): Promise<void> => {
    while (next < batches && failure === undefined) {
      const batch = next++;
      try {
        await run(batch, controller.signal);
      } catch (error) {
        failure ??= { batch, error };
        controller.abort();
      }
    }
  };
  callersSignal?.addEventListener("abort", onAbort);
  if (callersSignal?.aborted) onAbort();
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, batches) }, lane));
  } finally {
    callersSignal?.removeEventListener("abort", onAbort);
  }
  return failure;
}

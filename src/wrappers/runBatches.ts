import type { AbortSignalLike } from "../options/options.js";

/** Runs batches by number, so many at once. One that fails ends all, and its error is thrown once all have ended. */
export async function runBatches(
  batches: number,
  concurrency: number,
  callersSignal: AbortSignalLike | undefined,
  run: (batch: number, signal: AbortSignalLike) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(callersSignal?.reason);
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    while (next < batches && failure === undefined) {
      try {
        await run(next++, controller.signal);
      } catch (error) {
        failure ??= { error };
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
  if (failure) throw failure.error;
}

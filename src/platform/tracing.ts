import { tracingChannel } from "node:diagnostics_channel";
import type { Attempt, StatusError, Target } from "../errors/statusError.js";

/** What subscribers of the tracing channel `tunerank.call` get: never a key, a body or an answer. */
export interface CallTrace extends Target {
  /** Every HTTP request of the call; there once it has ended. */
  attempts?: readonly Attempt[];
  /** Why it failed; there once it has failed. */
  error?: unknown;
}

const channel = tracingChannel<unknown, CallTrace>("tunerank.call");

/** Runs a call, and publishes it on `node:diagnostics_channel` when there are subscribers. */
export function traced<T extends { readonly attempts: readonly Attempt[] }>(
  target: () => Target,
  run: () => Promise<T>,
): Promise<T> {
  return channel.hasSubscribers ? tell(target(), run) : run();
}

async function tell<T extends { readonly attempts: readonly Attempt[] }>(
  target: Target,
  run: () => Promise<T>,
): Promise<T> {
  const context: CallTrace = { ...target };
  let outcome: T | undefined;
  // The channel publishes what its promise resolves to, so that must not be the answer.
  await channel.tracePromise(async () => {
    try {
      outcome = await run();
      context.attempts = outcome.attempts;
    } catch (error) {
      context.attempts = (error as StatusError).attempts;
      throw error;
    }
  }, context);
  return outcome as T;
}

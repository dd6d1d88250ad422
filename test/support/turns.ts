import { setImmediate as turn } from "node:timers/promises";

/** Lets everything happen that waits for nothing outside of this process: promises, streams, immediates. */
export async function turns(count = 20): Promise<void> {
  for (let taken = 0; taken < count; taken += 1) await turn();
}

/** Whether a promise is still pending once all that was under way within this process is done. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  promise.then(note, note);
  await turns();
  return !settled;
}

/** Resolves once the condition holds. It has no time of its own: what never holds ends with its test. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

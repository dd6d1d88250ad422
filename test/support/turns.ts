import timers from "node:timers";
import { setImmediate as turn } from "node:timers/promises";

// The machine's own: a test may have replaced the globals.
const { setTimeout: later, clearTimeout: forget } = timers;

/** The longest wait for anything: what comes later does not come, and a test that hangs tells nothing. */
const mostMs: number = Number(process.env.TEST_WAIT_MS ?? 10_000);

/** What a promise resolves to; rejects if it takes too long, and names what was waited for. */
export async function soon<T>(promise: Promise<T>, what: string, ms: number = mostMs): Promise<T> {
  const late = new Error(`Not within ${ms} ms: ${what}.`);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = later(reject, ms, late);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    forget(timer);
  }
}

/** Resolves once the condition holds. */
export async function until(
  condition: () => boolean,
  what = `${condition}`,
  ms: number = mostMs,
): Promise<void> {
  const late = new Error(`Not within ${ms} ms: ${what}.`);
  const end = process.uptime() + ms / 1000;
  while (!condition()) {
    if (process.uptime() > end) throw late;
    await turn();
  }
}

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

import { longestTimerMs } from "../options/arguments.js";

// A real timer fires so much too early at most.
const earlyMs = 2;
// How far a test has moved its timers on without `performance`.
let movedMs = 0;

/** The time in milliseconds, for spans of time. */
export function now(): number {
  return performance.now() + movedMs;
}

/**
 * When a timer fired that was due at `dueAt`. One that fires long before was set on the clock of a test, which moves it on
 * without `performance`: it is believed, or what waits for it would never end.
 */
export function firedAt(dueAt: number): number {
  const leftMs = dueAt - now();
  // Whole milliseconds: sums with a fraction would leave a rest to wait for.
  if (leftMs > earlyMs) movedMs += Math.ceil(leftMs);
  return now();
}

/** Calls `run` after so many milliseconds, never too early; the function that it returns prevents that. */
export function after(ms: number, run: () => void): () => void {
  const endsAt = now() + ms;
  let timer: ReturnType<typeof setTimeout>;
  const wait = (leftMs: number): void => {
    const timerMs = Math.min(leftMs, longestTimerMs);
    const dueAt = now() + timerMs;
    timer = setTimeout(() => {
      const restMs = endsAt - firedAt(dueAt);
      // A timer leaves out fractions of a millisecond, and may fire one early.
      if (restMs > 0) wait(restMs);
      else run();
    }, timerMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

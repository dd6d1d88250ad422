// Time: the turns of the event loop, each of which reads what has arrived, and a clock that a test may move.
import { longestTimerMs } from "../options/arguments.js";

// Taken when this is loaded: tests put others in their place.
const { setImmediate, MessageChannel: Channel, setTimeout: setRealTimeout } = globalThis;

/** Calls `run` after what has arrived is read. */
export const nextTurn: (run: () => void) => unknown = setImmediate ?? (Channel ? byMessage : setRealTimeout);

function byMessage(run: () => void): void {
  const { port1, port2 } = new Channel();
  const onmessage = (): void => {
    port1.close();
    run();
  };
  Object.assign(port1, { onmessage });
  port2.postMessage(0);
}

// A timer that fires so much too late was kept from it by a busy loop, or by a process that stood still.
const lateMs = 2;
const longestMs = 250;
// Before a timer that fires in time the loop may have been busy too. Turns: a test's clock may stand still.
const fewTurns = 50;

/** Whether a timer fired late: what arrived in time may be unread. */
export function isLate(dueAt: number, now: number): boolean {
  return now - dueAt > lateMs;
}

/**
 * Calls `end` after the first turn that brings nothing, or after 250 ms; after 50 turns where its timer was not late.
 * @param arrived A number that changes with whatever arrives, NaN while it cannot be known; undefined to wait no longer
 */
export function readOn(wasLate: boolean, arrived: () => number | undefined, end: () => void): void {
  const until = performance.now() + longestMs;
  let turns = wasLate ? Number.POSITIVE_INFINITY : fewTurns;
  let seen = arrived();
  const look = (): void => {
    const found = arrived();
    if (found === undefined || found === seen || --turns < 0 || performance.now() > until) {
      end();
      return;
    }
    seen = found;
    nextTurn(look);
  };
  nextTurn(look);
}

/** A real timer fires so much too early at most. */
export const earlyMs = 2;
// Sums of times with fractions may differ by so much.
const roundingMs = 1e-6;
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
  let live: (() => void) | undefined = run;
  const wait = (leftMs: number): void => {
    const timerMs = Math.min(leftMs, longestTimerMs);
    const dueAt = now() + timerMs;
    timer = setTimeout(() => look(firedAt(dueAt) - 1), timerMs);
  };
  // A timer may fire a little early. The rest passes in turns of the loop, where time does: a test whose timers stand still
  // would have to move them once more.
  const look = (before: number): void => {
    const time = now();
    const restMs = endsAt - time;
    if (restMs < roundingMs) live?.();
    else if (restMs > earlyMs || time === before) wait(restMs);
    else nextTurn(() => live && look(time));
  };
  wait(ms);
  return () => {
    live = undefined;
    clearTimeout(timer);
  };
}

// Turns of the event loop, each of which reads the bytes that have arrived, and a clock that a test may move forward.
import { longestTimerMs } from "../options/arguments.js";

// Read when the module loads, because tests replace these functions.
const { setImmediate, MessageChannel: Channel, setTimeout: setRealTimeout } = globalThis;

/** Calls `run` after the bytes that have arrived are read. */
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

// A timer that fires more than `lateMs` late was delayed by a busy event loop, or by a suspended process.
const lateMs = 2;
const longestMs = 250;
// The loop may also have been busy before a timer that fires in time. The limit is a number of turns, because a test's
// clock may stand still.
const fewTurns = 50;

/** Whether a timer fired late: bytes that arrived in time may then be unread. */
export function isLate(dueAt: number, now: number): boolean {
  return now - dueAt > lateMs;
}

/**
 * Calls `end` after the first turn in which nothing arrives, after 250 ms, or after 50 turns if the timer was not late.
 * @param arrived Returns a number that changes when something arrives, NaN if that is unknown; undefined to end at once
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

/** How many milliseconds too early a real timer fires at most. */
export const earlyMs = 2;
// The largest rounding error, in milliseconds, of sums of times with fractions.
const roundingMs = 1e-6;
// How many milliseconds a test has moved its timers forward without moving `performance`.
let movedMs = 0;

/** The current time in milliseconds, for measuring durations. */
export function now(): number {
  return performance.now() + movedMs;
}

/**
 * Returns the time at which a timer that was due at `dueAt` fired. A timer that fires long before is on the clock of a
 * test, which moves forward without `performance`. That timer is believed, or waiting for it would never end.
 */
export function firedAt(dueAt: number): number {
  const leftMs = dueAt - now();
  // Rounded up to whole milliseconds: with a fraction, a remainder would be left to wait for.
  if (leftMs > earlyMs) movedMs += Math.ceil(leftMs);
  return now();
}

/** Calls `run` after `ms` milliseconds, never too early. The function that it returns cancels this. */
export function after(ms: number, run: () => void): () => void {
  const endsAt = now() + ms;
  let timer: ReturnType<typeof setTimeout>;
  let live: (() => void) | undefined = run;
  const wait = (leftMs: number): void => {
    const timerMs = Math.min(leftMs, longestTimerMs);
    const dueAt = now() + timerMs;
    timer = setTimeout(() => look(firedAt(dueAt) - 1), timerMs);
  };
  // A timer may fire a little early. The remaining time passes in turns of the loop, if the clock moves in them. A
  // second timer would wait until a test that controls timers moves them forward once more.
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

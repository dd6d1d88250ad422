import { longestTimerMs } from "../options/arguments.js";
import type { Clock } from "./schedule.js";

/** The machine's time: a timer of any length, that fires never too early. */
export const machineClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const at = performance.now() + ms;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      const leftMs = at - performance.now();
      // A timer leaves out fractions of a millisecond, and may fire one early.
      if (leftMs > 0) timer = setTimeout(wait, Math.min(leftMs, longestTimerMs));
      else run();
    };
    wait();
    return () => clearTimeout(timer);
  },
};

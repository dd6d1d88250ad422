import { longestTimerMs } from "../options/arguments.js";

/** One timer, of any length, that fires never too early. */
export class Timer {
  readonly #fire: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fire: () => void) {
    this.#fire = fire;
  }

  set(ms: number): void {
    this.clear();
    this.#wait(performance.now() + ms);
  }

  clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(at: number): void {
    const leftMs = at - performance.now();
    // A timer leaves out fractions of a millisecond, and may fire one early.
    if (leftMs > 0) this.#timer = setTimeout(() => this.#wait(at), Math.min(leftMs, longestTimerMs));
    else {
      this.#timer = undefined;
      this.#fire();
    }
  }
}

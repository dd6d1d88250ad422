import type { AttemptTimes } from "../../../src/policy/retry.js";
import { Scheme } from "./scheme.js";

// How many requests may queue, by the paper: fewer than the first is too few, more than the second too many.
const alpha = 2;
const beta = 4;
// In the start, which doubles every other round, one.
const gamma = 1;

/** TCP Vegas (Brakmo and Peterson, 1995): how many requests queue, by how much longer responses take than the fastest. */
export class Vegas extends Scheme {
  #fastestMs = Number.POSITIVE_INFINITY;
  #sumMs = 0;
  #count = 0;
  #isStarting = true;
  #round = 0;

  override responded({ began, ended }: AttemptTimes): void {
    this.#fastestMs = Math.min(this.#fastestMs, ended - began);
    this.#sumMs += ended - began;
    this.#count += 1;
    if (this.#count < this.limit) return;
    const queued = this.limit * (1 - this.#fastestMs / (this.#sumMs / this.#count));
    this.#sumMs = this.#count = 0;
    this.#round += 1;
    if (this.#isStarting) {
      if (queued > gamma) this.#isStarting = false;
      else if (this.#round % 2 === 0) this.set(this.limit * 2);
    } else if (queued < alpha) this.set(this.limit + 1);
    else if (queued > beta) this.set(this.limit - 1);
  }

  // Lost packets halve the window, as in Reno.
  override rateLimited({ epoch }: AttemptTimes): void {
    if (epoch !== this.epoch) return;
    this.#isStarting = false;
    this.set(this.limit / 2);
    this.epoch += 1;
  }
}

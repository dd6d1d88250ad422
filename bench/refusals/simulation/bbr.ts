import type { AttemptTimes } from "../../../src/policy/retry.js";
import { Scheme } from "./scheme.js";

// The gains of the eight rounds after the start: one asks for more, the next lets the queue run empty.
const gains = [1.25, 0.75, 1, 1, 1, 1, 1, 1] as const;
// The start ends once three rounds brought less than a quarter more.
const growth = 1.25;
const roundsWithout = 3;
const ratesKept = 10;

/**
 * After BBR (Cardwell and others, 2016), with a window in place of a paced rate: the limit is the best rate of the last
 * ten rounds, times the shortest response time. Rejected requests count in no rate, and change nothing else.
 */
export class Bbr extends Scheme {
  #fastestMs = Number.POSITIVE_INFINITY;
  #rates: number[] = [];
  #best = 0;
  #without = 0;
  #isStarting = true;
  #phase = 0;
  #count = 0;
  #began = 0;

  override responded({ began, ended, epoch }: AttemptTimes): void {
    this.#fastestMs = Math.min(this.#fastestMs, ended - began);
    this.#count += 1;
    // A round ends with the first response to a request that began within it.
    if (epoch !== this.epoch) return;
    const rate = this.#count / Math.max(1, ended - this.#began);
    this.#began = ended;
    this.#count = 0;
    this.epoch += 1;
    this.#rates = [...this.#rates.slice(1 - ratesKept), rate];
    if (this.#isStarting) this.#start(rate);
    else this.#phase = (this.#phase + 1) % gains.length;
    const gain = this.#isStarting ? 2 : (gains[this.#phase] as number);
    this.set(Math.max(4, Math.ceil(gain * Math.max(...this.#rates) * this.#fastestMs)));
  }

  #start(rate: number): void {
    if (rate >= this.#best * growth) {
      this.#best = rate;
      this.#without = 0;
    } else this.#without += 1;
    if (this.#without >= roundsWithout) this.#isStarting = false;
  }
}

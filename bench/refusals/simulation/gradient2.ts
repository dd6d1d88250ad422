import type { AttemptTimes } from "../../../src/policy/retry.js";
import { Scheme } from "./scheme.js";

const firstLimit = 20;
const queued = 4;
const smoothing = 0.2;
const longWindow = 600;

/**
 * The rule of Gradient2 in Netflix's concurrency-limits, with its defaults: the limit follows the ratio of the long-term
 * response time to the present one, and grows by what may queue. It judges a round of responses, as that library's
 * windows of a second would hardly move it within a run. It does not read rejections.
 */
export class Gradient2 extends Scheme {
  #exact = firstLimit;
  #longMs = 0;
  #rounds = 0;
  #sumMs = 0;
  #count = 0;
  #mostInFlight = 0;
  override limit: number = firstLimit;

  override began(inFlight: number): void {
    this.#mostInFlight = Math.max(this.#mostInFlight, inFlight);
  }

  override responded({ began, ended }: AttemptTimes): void {
    this.#sumMs += ended - began;
    this.#count += 1;
    if (this.#count < this.limit) return;
    const shortMs = this.#sumMs / this.#count;
    // The first ten are averaged, later ones smoothed.
    const weight = this.#rounds < 10 ? 1 / (this.#rounds + 1) : 2 / (longWindow + 1);
    this.#longMs += (shortMs - this.#longMs) * weight;
    this.#rounds += 1;
    if (this.#longMs > 2 * shortMs) this.#longMs *= 0.9;
    if (this.#mostInFlight >= this.#exact / 2) {
      const gradient = Math.max(0.5, Math.min(1, this.#longMs / shortMs));
      const next = this.#exact * gradient + queued;
      this.#exact = Math.max(firstLimit, Math.min(this.most, this.#exact + (next - this.#exact) * smoothing));
      this.set(this.#exact);
    }
    this.#sumMs = this.#count = this.#mostInFlight = 0;
  }
}

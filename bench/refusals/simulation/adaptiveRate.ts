import type { AttemptTimes } from "../../../src/policy/retry.js";
import { Scheme } from "./scheme.js";

const decrease = 0.7;
const scale = 0.4;
const smoothing = 0.8;
const leastRate = 0.5;

/**
 * The token bucket that learns from 429s: the rule of the AWS SDKs' retry mode "adaptive", after CUBIC (RFC 9438). It
 * limits nothing until the first 429. The rate then falls to 0.7 of what was sent, and grows again by the time since.
 */
export class AdaptiveRate extends Scheme {
  override limit: number = this.most;
  #isOn = false;
  #rate = leastRate;
  #tokens = 0;
  #filledAt = 0;
  // Requests a second, measured by half seconds.
  #sentRate = 0;
  #count = 0;
  #countedAt = 0;
  #lastRate = 0;
  #limitedAt = 0;

  override opensAt(now: number): number {
    if (!this.#isOn) return 0;
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : now + ((1 - this.#tokens) * 1000) / this.#rate + 0.01;
  }

  override began(): void {
    if (this.#isOn) this.#tokens -= 1;
  }

  override responded({ ended }: AttemptTimes): void {
    this.#measure(ended);
    const windowS = Math.cbrt((this.#lastRate * (1 - decrease)) / scale);
    const grown = scale * ((ended - this.#limitedAt) / 1000 - windowS) ** 3 + this.#lastRate;
    this.#setRate(ended, grown);
  }

  override rateLimited({ ended }: AttemptTimes): void {
    this.#measure(ended);
    this.#lastRate = this.#isOn ? Math.min(this.#sentRate, this.#rate) : this.#sentRate;
    this.#limitedAt = ended;
    this.#setRate(ended, this.#lastRate * decrease);
    this.#isOn = true;
  }

  #measure(now: number): void {
    const half = Math.floor(now / 500) / 2;
    this.#count += 1;
    if (half <= this.#countedAt) return;
    const rate = this.#count / (half - this.#countedAt);
    this.#sentRate = rate * smoothing + this.#sentRate * (1 - smoothing);
    this.#count = 0;
    this.#countedAt = half;
  }

  #setRate(now: number, rate: number): void {
    this.#fill(now);
    this.#rate = Math.max(leastRate, Math.min(rate, 2 * this.#sentRate));
    this.#tokens = Math.min(this.#tokens, Math.max(1, this.#rate));
  }

  #fill(now: number): void {
    const most = Math.max(1, this.#rate);
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#filledAt) * this.#rate) / 1000);
    this.#filledAt = now;
  }
}

// Ways to find out how much a service takes, each in place of LimitSearch over the same engine: those that people know,
// by their papers or by their best-known implementations, ours, and one that knows the service's rule.
import { Limiter } from "../../../src/policy/limiter.js";
import type { AttemptTimes } from "../../../src/policy/retry.js";
import { LimitSearch } from "../../../src/policy/search.js";
import { Bucket, type Known } from "../rules.js";
import type { Service } from "../services.js";
import { AdaptiveRate } from "./adaptiveRate.js";
import { Bbr } from "./bbr.js";
import { Gradient2 } from "./gradient2.js";
import { Scheme } from "./scheme.js";
import { Vegas } from "./vegas.js";

/** The most requests in flight: the connections of a client. */
export const most = 128;

const limiterOf = (scheme: Scheme): Limiter => new Limiter(scheme as unknown as LimitSearch);

/** Keeps exactly to a rule that it was told. */
class Oracle extends Scheme {
  readonly #known: Known;
  readonly #seed: number;
  readonly #bucket: Bucket | undefined;
  #row = 0;

  constructor(known: Known, seed: number) {
    super(most);
    this.limit = most;
    this.#known = known;
    this.#seed = seed;
    if (known.perSecond !== undefined) this.#bucket = new Bucket(known.perSecond);
  }

  get #tokens(): number {
    return this.#known.tokensOf?.(this.#row) ?? 1;
  }

  override opensAt(now: number): number {
    const allowed = this.#known.atOnce?.(now, this.#seed) ?? most;
    this.limit = Math.min(most, Math.max(1, allowed));
    // It looks again after some milliseconds.
    if (allowed === 0) return now + 5;
    const waitMs = this.#bucket?.waitMs(now, this.#tokens) ?? 0;
    return waitMs > 0 ? now + waitMs + 0.01 : 0;
  }

  override began(): void {
    this.#bucket?.take(this.#tokens);
    this.#row += 1;
  }
}

/** Additive increase, multiplicative decrease, after a start that doubles: as TCP Reno (RFC 5681). */
class Aimd extends Scheme {
  #exact = 4;
  #isStarting = true;

  override responded(): void {
    this.#exact = Math.min(this.most, this.#exact + (this.#isStarting ? 1 : 1 / this.#exact));
    this.limit = Math.floor(this.#exact);
  }

  // Once for the attempts that began before the last decrease.
  override rateLimited({ epoch }: AttemptTimes): void {
    if (epoch !== this.epoch) return;
    this.#isStarting = false;
    this.#exact = Math.max(1, this.#exact / 2);
    this.limit = Math.floor(this.#exact);
    this.epoch += 1;
  }
}

/** What the schemes are called, ours last, and their limiters. */
export const schemes: Readonly<Record<string, () => Limiter>> = {
  "fixed 16": () => new Limiter(16),
  AIMD: () => limiterOf(new Aimd(most)),
  "TCP Vegas": () => limiterOf(new Vegas(most)),
  Gradient2: () => limiterOf(new Gradient2(most)),
  "AWS adaptive": () => limiterOf(new AdaptiveRate(most)),
  BBR: () => limiterOf(new Bbr(most)),
  tunerank: () => new Limiter(new LimitSearch(most)),
};

/** The limiter of one who knows the service. */
export function oracleOf({ known = {} }: Service, seed: number): () => Limiter {
  return () => limiterOf(new Oracle(known, seed));
}

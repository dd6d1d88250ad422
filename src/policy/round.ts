/** What a limit was found to bring. */
export interface Measured {
  readonly limit: number;
  /** Good answers in a millisecond. */
  readonly rate: number;
  /** The part of the attempts that were refused. */
  readonly share: number;
  /** How long a good answer took. */
  readonly answerMs: number;
  /** How many were under way on average. */
  readonly underWay: number;
}

/** Measures the attempts that began with one limit. */
export class Round {
  good = 0;
  refused = 0;
  #refusedMs = 0;
  #lateGood = 0;
  #lateMs = 0;
  #area = 0;
  #began: number;
  #last: number;

  constructor(now: number) {
    this.#began = this.#last = now;
  }

  get ended(): number {
    return this.good + this.refused;
  }

  /** Time has passed with so many under way. */
  passed(now: number, inFlight: number): void {
    // The first begins it.
    if (this.#last === 0) this.#began = this.#last = now;
    this.#area += inFlight * (now - this.#last);
    this.#last = now;
  }

  /** @param isLate Whether it is of the later half: the first of a larger number do not wait for each other yet */
  addGood(ms: number, isLate: boolean): void {
    this.good += 1;
    if (!isLate) return;
    this.#lateGood += 1;
    this.#lateMs += ms;
  }

  addRefused(ms: number): void {
    this.refused += 1;
    this.#refusedMs += ms;
  }

  measured(limit: number): Measured {
    const { good, refused, ended } = this;
    const underWay = this.#area / Math.max(1, this.#last - this.#began);
    const answerMs = this.#lateMs / Math.max(1, this.#lateGood);
    const rate = (underWay * good) / Math.max(1, good * answerMs + this.#refusedMs);
    return { limit, rate, share: refused / ended, answerMs, underWay };
  }

  /** How much more likely these refusals are with the one part of them than with the other, as a logarithm. */
  evidence(one: number, other: number): number {
    return this.refused * Math.log(one / other) + this.good * Math.log((1 - one) / (1 - other));
  }

  /** Another begins where this one ends. */
  next(): Round {
    return new Round(this.#last);
  }
}

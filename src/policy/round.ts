/** What a limit was found to bring. */
export interface Measured {
  readonly limit: number;
  /** Good answers in a millisecond. */
  readonly rate: number;
  /** The part of the attempts that were refused. */
  readonly share: number;
  /** How long a good answer took. */
  readonly answerMs: number;
  /** How many places were not free on average. */
  readonly taken: number;
}

/** A smaller part of refusals is none. */
export const leastShare = 0.03;

/** How many of the limit were not refused. */
export function takenOf({ limit, share }: Measured): number {
  return Math.max(1, Math.round(limit * (1 - share)));
}

// By chance all may be refused, or none.
function possible(share: number): number {
  return Math.min(1 - leastShare, Math.max(leastShare, share));
}

/** Measures the attempts that began with one limit. */
export class Round {
  good = 0;
  refused = 0;
  #lateGood = 0;
  #lateMs = 0;
  #area = 0;
  #restingArea = 0;
  #began: number;
  #last: number;

  constructor(now: number) {
    this.#began = this.#last = now;
  }

  get ended(): number {
    return this.good + this.refused;
  }

  /** Time has passed with so many under way, and so many places empty after a refusal. */
  passed(now: number, inFlight: number, resting: number): void {
    // The first begins it.
    if (this.#last === 0) this.#began = this.#last = now;
    this.#area += inFlight * (now - this.#last);
    this.#restingArea += resting * (now - this.#last);
    this.#last = now;
  }

  /** @param isLate Whether it is of the later half: the first of a larger number do not wait for each other yet */
  addGood(ms: number, isLate: boolean): void {
    this.good += 1;
    if (!isLate) return;
    this.#lateGood += 1;
    this.#lateMs += ms;
  }

  addRefused(): void {
    this.refused += 1;
  }

  measured(limit: number): Measured {
    const { refused, ended } = this;
    const ms = Math.max(1, this.#last - this.#began);
    const underWay = this.#area / ms;
    const answerMs = this.#lateMs / Math.max(1, this.#lateGood);
    const rate = underWay / Math.max(1, answerMs);
    return { limit, rate, share: refused / ended, answerMs, taken: underWay + this.#restingArea / ms };
  }

  /**
   * Above 0 where its refusals are those of `base` again, whatever the limit; below 0 where they are those of a service
   * that takes no more than it took there. The logarithm of how much more likely the one is than the other.
   */
  evidence({ limit, share }: Measured, ofLimit: number): number {
    const same = possible(share);
    const full = possible(1 - ((1 - share) * limit) / ofLimit);
    return this.refused * Math.log(same / full) + this.good * Math.log((1 - same) / (1 - full));
  }

  /** Another begins where this one ends. */
  next(): Round {
    return new Round(this.#last);
  }
}

/** The part of refusals that has nothing to do with the limit, as far as is known. */
export class UsualShare {
  value = 0;
  // The answers by which it is known.
  #known = 0;

  /** A round was to find it out. */
  found({ refused, ended }: Round): void {
    this.#set(refused / ended);
    this.#known = ended;
  }

  /** A round like those before. By chance a few attempts show more or fewer refusals than there are. */
  follow({ refused, ended }: Round): void {
    this.#set(Math.min(1.1 * this.value, 0.75 * this.value + (0.25 * refused) / ended));
  }

  /** A round with another limit has the same. */
  join({ refused, ended }: Round, before: number): number {
    this.#set((before * this.#known + refused) / (this.#known + ended));
    this.#known += ended;
    return this.value;
  }

  /** Whether there are more than before. */
  isExceededBy({ refused, ended }: Round): boolean {
    return refused > (this.value > 0 ? 1.5 * this.value * ended + 3 : 0);
  }

  #set(share: number): void {
    this.value = share < leastShare ? 0 : share;
  }
}

const smallStep = 1 / 8;
// Answers between two steps that may bring refusals: twice as many after each that brought nothing.
const firstPause = 64;
const longestPause = 1024;

/** How far a limit steps up, and how often: it doubles until something is in its way. */
export class Steps {
  areWide = true;
  #pause = 0;
  #nextPause: number = firstPause;

  /** Whether there were answers enough since the last that brought nothing. */
  get isDue(): boolean {
    return this.#pause <= 0;
  }

  after(limit: number): number {
    return limit + (this.areWide ? limit : Math.max(1, Math.floor(limit * smallStep)));
  }

  passed(answers: number): void {
    this.#pause -= answers;
  }

  slowDown(limit: number): void {
    this.areWide = false;
    this.#pause = this.#nextPause;
    const longest = Math.min(longestPause, firstPause + 16 * limit);
    this.#nextPause = Math.min(longest, this.#nextPause * 2);
  }

  broughtMore(): void {
    this.#nextPause = firstPause;
  }
}

// The shortest time in which the only place stays empty after a refusal.
const onlyRestMs = 200;
// And any place of a run that is asked to wait, or is one of several: a service that counts by time counts seconds.
const longRestMs = 1000;

/** In how many milliseconds a place that was refused is free again. */
export function restAfter(answerMs: number, limit: number, askedMs: number, isLong: boolean): number {
  const shortest = isLong || askedMs > 0 ? longRestMs : limit > 1 ? 0 : onlyRestMs;
  // What all wait for is no rest of this place, unless it is the only one.
  return Math.max(answerMs, shortest) + (limit > 1 ? askedMs : 0);
}

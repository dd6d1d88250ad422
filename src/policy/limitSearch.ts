import type { AttemptTimes } from "./limiter.js";

const firstLimit = 4;
// So many answers tell what part of them are refusals.
const fewestSamples = 16;
// A smaller part of refusals is none.
const leastShare = 0.03;
// What a doubling has to bring, and what a smaller step has to, as a part of itself.
const doublingGain = 0.2;
const stepGain = 0.5;
// A service that queues takes longer: it is asked for no more.
const slowest = 2;
const smallStep = 1 / 8;
// Answers between two steps that may bring refusals: twice as many after each that brought nothing.
const firstPause = 64;
const longestPause = 1024;

// "up" and "down" try another limit; "settling" follows refusals that were not expected.
type State = "steady" | "up" | "down" | "settling";

/** What a limit was found to bring. */
interface Measured {
  readonly limit: number;
  /** Good answers in a millisecond. */
  readonly rate: number;
  /** The part of the attempts that were refused. */
  readonly share: number;
}

/**
 * Finds how many attempts at once serve a run best; the clock is the caller's. It begins with 4 and doubles. A refusal,
 * or a step that brings too little, ends that; then it tries a little more now and then. Where refusals go on at a lower
 * limit, a lower one is tried, and kept if there are fewer of them, or no fewer good answers; else they have nothing to do
 * with the limit, and it grows in spite of them.
 */
export class LimitSearch {
  limit: number = firstLimit;
  /** Attempts of an earlier one say nothing of this limit. */
  epoch = 0;
  #most: number;
  #state: State = "steady";
  #base: Measured = { limit: firstLimit, rate: 0, share: 0 };
  #step = 1;
  #pause = 0;
  #nextPause: number = firstPause;
  // The refusals of this epoch show how many were too many.
  #tooMany = -1;
  #fewest = 1;
  #fastest = Number.POSITIVE_INFINITY;
  // One round: the attempts that began with this limit.
  #good = 0;
  #refused = 0;
  #totalMs = 0;
  #began = 0;
  #area = 0;
  #last = 0;

  /** @param most The limit never exceeds it */
  constructor(most: number) {
    this.#most = most;
    this.limit = Math.min(firstLimit, most);
  }

  /** There are never more than so many. */
  cap(most: number): void {
    this.#most = Math.min(this.#most, most);
    if (this.limit > this.#most) this.#set(this.#most, "steady");
  }

  /** Time has passed with so many under way. */
  passed(now: number, inFlight: number): void {
    if (this.#began === 0) this.#began = this.#last = now;
    this.#area += inFlight * (now - this.#last);
    this.#last = now;
  }

  /** An attempt was answered. */
  answered({ epoch, began, now }: AttemptTimes): void {
    if (epoch !== this.epoch) return;
    this.#good += 1;
    this.#totalMs += now - began;
    this.#judge(now);
  }

  /** An attempt was refused. @param inFlight How many are under way without it */
  refused({ epoch, began, now }: AttemptTimes, inFlight: number): void {
    if (epoch === this.epoch) {
      this.#refused += 1;
      this.#totalMs += now - began;
      if (this.#isUnexpected) this.#drop();
      else this.#judge(now);
    }
    // It took those that are left.
    if (epoch === this.#tooMany && this.#state === "settling")
      this.limit = Math.max(this.#fewest, Math.min(this.limit, inFlight));
  }

  // More than there were with the limit before.
  get #isUnexpected(): boolean {
    if (this.#state === "down" || this.#state === "settling") return false;
    const { share } = this.#base;
    return this.#refused > (share > 0 ? 1.5 * share * (this.#good + this.#refused) + 3 : 0);
  }

  #drop(): void {
    this.#fewest = this.#state === "up" ? this.#base.limit : Math.max(1, this.limit >> 1);
    this.#tooMany = this.epoch;
    this.#slowDown();
    this.#set(this.limit, "settling");
  }

  // A round ends with as many answers as may be under way, more where some of them are refusals.
  #judge(now: number): void {
    const ended = this.#good + this.#refused;
    const isClean = this.#refused === 0 && this.#state !== "settling";
    if (ended < Math.max(isClean ? firstLimit : fewestSamples, this.limit)) return;
    const elapsed = Math.max(1, now - this.#began);
    const underWay = this.#area / elapsed;
    const rate = (underWay * this.#good) / Math.max(1, this.#totalMs);
    const share = this.#refused / ended;
    // A few attempts show by chance fewer refusals than there are.
    const usual = this.#state === "steady" || this.#state === "up" ? 0.8 * this.#base.share : 0;
    const found = {
      limit: this.limit,
      rate,
      share: Math.max(usual, share) < leastShare ? 0 : Math.max(usual, share),
    };
    const averageMs = this.#totalMs / ended;
    if (this.#refused === 0) this.#fastest = Math.min(this.#fastest, averageMs);
    this.#pause -= ended;
    if (this.#state === "up") this.#judgeMore(found);
    else if (this.#state === "down") this.#judgeLess(found);
    else if (this.#state === "settling") this.#settled(found);
    else {
      this.#base = found;
      const isFull = underWay > 0.75 * this.limit && averageMs <= slowest * this.#fastest;
      if (this.#pause <= 0 && isFull && this.limit < this.#most) this.#tryMore();
      else this.#newRound();
    }
  }

  #judgeMore(found: Measured): void {
    const { limit, rate } = this.#base;
    const more = found.limit / limit - 1;
    const gain = more >= 1 ? doublingGain : stepGain * more;
    if (found.rate >= rate * (1 + gain)) {
      this.#base = found;
      this.#step = Math.min(1, this.#step * 2);
      this.#nextPause = firstPause;
      if (found.limit < this.#most) this.#tryMore();
      else this.#set(found.limit, "steady");
    } else {
      this.#slowDown();
      this.#set(limit, "steady");
    }
  }

  #settled(found: Measured): void {
    this.#base = found;
    if (found.share > 0 && found.limit > 1) this.#set(found.limit >> 1, "down");
    else this.#set(found.limit, "steady");
  }

  #judgeLess(found: Measured): void {
    const { limit, rate, share } = this.#base;
    const kept = (found.limit / limit + 1) / 2;
    if (found.share < share / 2 || found.rate > kept * rate) this.#settled(found);
    else {
      // They have nothing to do with the limit.
      this.#step = 1;
      this.#pause = 0;
      if (limit < this.#most) this.#tryMore();
      else this.#set(limit, "steady");
    }
  }

  #tryMore(): void {
    const { limit } = this.#base;
    this.#set(Math.min(this.#most, limit + Math.max(1, Math.floor(limit * this.#step))), "up");
  }

  #slowDown(): void {
    this.#step = smallStep;
    this.#pause = this.#nextPause;
    this.#nextPause = Math.min(longestPause, this.#nextPause * 2);
  }

  #set(limit: number, state: State): void {
    this.limit = limit;
    this.#state = state;
    this.epoch += 1;
    this.#newRound();
  }

  #newRound(): void {
    this.#good = this.#refused = this.#totalMs = this.#area = 0;
    this.#began = this.#last;
  }
}

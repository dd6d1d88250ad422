import { type Measured, Round } from "./round.js";
import type { AttemptTimes } from "./types.js";

const firstLimit = 4;
// So many answers tell what part of them are refusals.
const fewestSamples = 16;
// So few good ones tell nothing of the speed, unless there are hardly any.
const fewestGood = 10;
// A smaller part of refusals is none.
const leastShare = 0.03;
// What a doubling has to bring, and what a smaller step has to, as a part of itself.
const doublingGain = 0.2;
const stepGain = 0.5;
// A service that queues takes longer: it is asked for no more.
const slowest = 2;
const smallStep = 1 / 8;
// So much more likely is certain, as a logarithm.
const certain = 4;
const leastRestMs = 200;
// Answers between two steps that may bring refusals: twice as many after each that brought nothing.
const firstPause = 64;
const longestPause = 1024;

// "up" and "down" try another limit; "settling" follows refusals that were not expected.
type State = "steady" | "up" | "down" | "settling";

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
  // When the places of refused attempts are free again.
  readonly #resting: number[] = [];
  #answerMs = 0;
  #most: number;
  #state: State = "steady";
  #base: Measured = { limit: firstLimit, rate: 0, share: 0, answerMs: 0, underWay: 0 };
  #step = 1;
  #pause = 0;
  // The part of refusals that has nothing to do with the limit, as far as is known.
  #usual = 0;
  #known = 0;
  // Whether the refusals at the base may come from its limit.
  #isDoubted = false;
  #nextPause: number = firstPause;
  // The refusals of this epoch show how many were too many.
  #tooMany = -1;
  #fewest = 1;
  #fastest = Number.POSITIVE_INFINITY;
  #round: Round = new Round(0);

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
    this.#round.passed(now, inFlight);
  }

  /** An attempt was answered. */
  answered({ epoch, began, now }: AttemptTimes): void {
    this.#answerMs += (now - began - this.#answerMs) / (this.#answerMs > 0 ? 8 : 1);
    if (epoch !== this.epoch) return;
    this.#round.addGood(now - began, 2 * (this.#round.ended + 1) > this.#samples);
    this.#judge();
  }

  /** An attempt was refused. @param inFlight How many are under way without it */
  refused({ epoch, began, now }: AttemptTimes, inFlight: number): void {
    const before = this.limit;
    if (epoch === this.epoch) {
      this.#round.addRefused(now - began);
      if (this.#isUnexpected) this.#drop();
      else this.#judge();
    }
    // It took those that are left.
    if (epoch === this.#tooMany && this.#state === "settling")
      this.limit = Math.max(this.#fewest, Math.min(this.limit, inFlight));
    if (this.limit >= before) this.#resting.push(now + Math.max(this.#answerMs, this.limit > 1 ? 0 : leastRestMs));
  }

  /** How many places are not free: that of a refused attempt stays empty for as long as an answer takes. */
  resting(now: number): number {
    while (this.restsUntil <= now) this.#resting.shift();
    return this.#resting.length;
  }

  /** When the next of them is. */
  get restsUntil(): number {
    return this.#resting[0] ?? Number.POSITIVE_INFINITY;
  }

  // A round ends with as many answers as may be under way, more where some of them are refusals.
  get #samples(): number {
    const isClean = this.#round.refused === 0 && this.#step === 1;
    return Math.max(isClean ? firstLimit : fewestSamples, this.limit);
  }

  // More than there were with the limit before.
  get #isUnexpected(): boolean {
    if (this.#state === "down" || this.#state === "settling") return false;
    const { refused, ended } = this.#round;
    return refused > (this.#usual > 0 ? 1.5 * this.#usual * ended + 3 : 0);
  }

  #drop(): void {
    this.#fewest = this.#state === "up" ? this.#base.limit : Math.max(1, this.limit >> 1);
    this.#tooMany = this.epoch;
    this.#slowDown();
    this.#set(this.limit, "settling");
  }

  #judge(): void {
    const { ended, good, refused } = this.#round;
    const samples = this.#samples;
    if (ended < samples) return;
    const found = this.#round.measured(this.limit);
    if (this.#base.share > 0 && (this.#state === "up" || this.#state === "down")) {
      const sign = this.#evidence;
      if (Math.abs(sign) < certain && ended < 8 * Math.max(fewestSamples, samples)) return;
      this.#pause -= ended;
      this.#tested(found, sign > 0);
      return;
    }
    if (refused > 0 && good < fewestGood && ended < 4 * samples) return;
    if (this.#state === "settling") this.#usual = found.share;
    else this.#usual = Math.min(1.1 * this.#usual, 0.75 * this.#usual + 0.25 * found.share);
    if (this.#usual < leastShare) this.#usual = 0;
    if (refused === 0) this.#fastest = Math.min(this.#fastest, found.answerMs);
    this.#pause -= ended;
    if (this.#state === "up") this.#judgeMore(found);
    else if (this.#state === "settling") this.#settled(found);
    else this.#goOn(found);
  }

  // Whether the refusals of another limit are those of the base, or those of a service that takes no more.
  get #evidence(): number {
    const { limit, share } = this.#base;
    const full = 1 - ((1 - share) * limit) / this.limit;
    return this.#round.evidence(share, Math.max(leastShare, full));
  }

  #tested(found: Measured, isUsual: boolean): void {
    const { limit, share } = this.#base;
    if (isUsual) {
      // What both have in common.
      this.#usual = (share * this.#known + found.share * this.#round.ended) / (this.#known + this.#round.ended);
      this.#known += this.#round.ended;
      this.#base = { ...found, limit: Math.max(limit, found.limit), share: this.#usual };
      this.#step = 1;
      if (this.#base.limit < this.#most) this.#tryMore();
      else this.#set(this.#base.limit, "steady");
    } else if (this.#state === "up" && !this.#isDoubted) {
      this.#slowDown();
      this.#set(limit, "steady");
    } else if (this.#state === "up") this.#tryLess();
    else {
      this.#usual = 0;
      if (found.share < leastShare) this.#set(found.limit, "steady");
      else this.#set(takenOf(found), "settling");
    }
  }

  #goOn(found: Measured): void {
    this.#base = { ...found, share: this.#usual };
    const isFull =
      found.underWay > 0.75 * (1 - found.share) * this.limit && found.answerMs <= slowest * this.#fastest;
    this.#isDoubted = this.#usual > 0 && this.limit > 1;
    if (this.#pause <= 0 && isFull && this.limit < this.#most) this.#tryMore();
    else if (this.#pause <= 0 && this.#isDoubted) this.#tryLess();
    else this.#round = this.#round.next();
  }

  #judgeMore(found: Measured): void {
    const { limit, rate } = this.#base;
    const more = found.limit / limit - 1;
    const gain = more >= 1 ? doublingGain : stepGain * more;
    if (found.rate >= rate * (1 + gain)) {
      this.#base = found;
      this.#nextPause = firstPause;
      if (found.limit < this.#most) this.#tryMore();
      else this.#set(found.limit, "steady");
    } else {
      this.#slowDown();
      this.#set(limit, "steady");
    }
  }

  // Refusals that go on have to do with the limit, or not: less tells, or more.
  #settled(found: Measured): void {
    this.#base = found;
    this.#known = this.#round.ended;
    this.#isDoubted = found.limit > 1;
    if (found.share < leastShare) this.#set(found.limit, "steady");
    else if (found.limit > 2) this.#tryLess();
    else this.#tryMore();
  }

  #tryLess(): void {
    this.#isDoubted = false;
    this.#slowDown();
    this.#set(Math.min(this.#base.limit - 1, takenOf(this.#base)), "down");
  }

  #tryMore(): void {
    const { limit } = this.#base;
    this.#set(Math.min(this.#most, limit + Math.max(1, Math.floor(limit * this.#step))), "up");
  }

  #slowDown(): void {
    this.#step = smallStep;
    this.#pause = this.#nextPause;
    const longest = Math.min(longestPause, firstPause + 16 * this.#base.limit);
    this.#nextPause = Math.min(longest, this.#nextPause * 2);
  }

  #set(limit: number, state: State): void {
    this.limit = limit;
    this.#state = state;
    this.epoch += 1;
    this.#round = this.#round.next();
  }
}

/** How many were not refused. */
function takenOf({ limit, share }: Measured): number {
  return Math.max(1, Math.round(limit * (1 - share)));
}

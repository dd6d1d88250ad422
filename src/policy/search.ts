import type { AttemptTimes } from "./types.js";

const firstLimit = 4;
// So many answers tell what part of them are refusals.
const fewestSamples = 16;
// So few good ones tell nothing of the speed, unless there are hardly any.
const fewestGood = 10;
// What a doubling has to bring, and what a smaller step has to, as a part of itself.
const doublingGain = 0.2;
const stepGain = 0.5;
// A service that queues takes longer: it is asked for no more.
const slowest = 2;
// So much more likely is certain, as a logarithm.
const certain = 4;

// "up" and "down" try another limit; "settling" follows refusals that were not expected.
type State = "steady" | "up" | "down" | "settling";

/**
 * Finds how many attempts at once serve a run best; the clock is the caller's. It begins with 4 and doubles. A refusal,
 * or a step that brings too little, ends that; then it tries a little more now and then. Where refusals go on, another
 * limit tells whether they come from the limit: then it is what the service took; else it grows in spite of them.
 */
export class LimitSearch {
  limit: number = firstLimit;
  /** Whether others send to the same service. */
  isOneOfMany = false;
  /** Counts the changes of the limit: the response to an attempt that began in an earlier epoch tells nothing of the present limit. */
  epoch = 0;
  #most: number;
  #state: State = "steady";
  #base: Measured = { limit: firstLimit, rate: 0, share: 0, answerMs: 0, taken: 0 };
  readonly #steps: Steps = new Steps();
  readonly #usual: AverageShare = new AverageShare();
  // Whether the refusals at the base may come from its limit.
  #isDoubted = false;
  // The refusals of this epoch show how many were too many.
  #tooMany = -1;
  #fewest = 1;
  // How long a good answer takes: of late, and at best.
  #answerMs = 0;
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

  /** Time has passed with so many under way, and so many places empty after a refusal. */
  passed(now: number, inFlight: number, resting: number): void {
    this.#round.passed(now, inFlight, resting);
  }

  /** An attempt was answered. */
  answered({ epoch, began, now }: AttemptTimes): void {
    this.#answerMs += (now - began - this.#answerMs) / (this.#answerMs > 0 ? 8 : 1);
    if (epoch !== this.epoch) return;
    this.#round.addGood(now - began, 2 * (this.#round.ended + 1) > this.#samples);
    this.#judge();
  }

  /**
   * An attempt was refused.
   * @param inFlight How many are under way without it
   * @param askedMs How long it is asked to wait
   * @returns until when its place stays empty, where it still has one: else the next would be refused at once, and again
   */
  refused({ epoch, now }: AttemptTimes, inFlight: number, askedMs: number): number | undefined {
    const before = this.limit;
    if (epoch === this.epoch) {
      this.#round.addRefused();
      const isSure = this.#state === "steady" || this.#state === "up";
      if (isSure && this.#usual.isExceededBy(this.#round)) this.#drop();
      else this.#judge();
    }
    // It took those that are left.
    if (epoch === this.#tooMany && this.#state === "settling")
      this.limit = Math.max(this.#fewest, Math.min(this.limit, inFlight));
    if (this.limit < before) return undefined;
    // Refusals that have nothing to do with the limit are no reason to wait.
    const isLong = this.isOneOfMany && !(this.#steps.areWide && this.#usual.value > 0);
    return now + restAfter(this.#answerMs, this.limit, askedMs, isLong);
  }

  // How many responses end a round: as many as may be in flight, and more where some of them are rejections.
  get #samples(): number {
    const isClean = this.#round.refused === 0 && this.#steps.areWide;
    return Math.max(isClean ? firstLimit : fewestSamples, this.limit);
  }

  #drop(): void {
    this.#fewest = this.#state === "up" ? this.#base.limit : Math.max(1, this.limit >> 1);
    this.#tooMany = this.epoch;
    this.#steps.slowDown(this.#base.limit);
    this.#set(this.limit, "settling");
  }

  #judge(): void {
    const { ended, good, refused } = this.#round;
    const samples = this.#samples;
    if (ended < samples) return;
    const found = this.#round.measured(this.limit);
    const isTest = this.#base.share > 0 && (this.#state === "up" || this.#state === "down");
    if (isTest) this.#test(found);
    if (isTest || (refused > 0 && good < fewestGood && ended < 4 * samples)) return;
    if (this.#state === "settling") this.#usual.found(this.#round);
    else this.#usual.follow(this.#round);
    if (refused === 0) this.#fastest = Math.min(this.#fastest, found.answerMs);
    this.#steps.passed(ended);
    if (this.#state === "up") this.#judgeMore(found);
    else if (this.#state === "settling") this.#settled(found);
    else this.#goOn(found);
  }

  // Whether another limit changes the refusals.
  #test(found: Measured): void {
    const { ended } = this.#round;
    const { limit, share } = this.#base;
    const evidence = this.#round.evidence(this.#base, this.limit);
    if (Math.abs(evidence) < certain && ended < 8 * Math.max(fewestSamples, this.limit)) return;
    this.#steps.passed(ended);
    if (evidence > 0) {
      // The limit is not why attempts are rejected: it may grow in spite of them.
      this.#steps.areWide = true;
      const common = this.#usual.join(this.#round, share);
      this.#grow({ ...found, limit: Math.max(limit, found.limit), share: common });
    } else if (this.#state === "down") {
      this.#usual.value = 0;
      if (found.share < leastShare) this.#set(found.limit, "steady");
      else this.#set(acceptedBy(found), "settling");
    } else if (this.#isDoubted) this.#tryLess();
    else this.#stay(limit);
  }

  #goOn(found: Measured): void {
    this.#base = { ...found, share: this.#usual.value };
    const isFull =
      found.taken > 0.75 * (1 - found.share) * this.limit && found.answerMs <= slowest * this.#fastest;
    this.#isDoubted = this.#usual.value > 0 && this.limit > 1;
    if (this.#steps.isDue && isFull && this.limit < this.#most) this.#tryMore();
    else if (this.#steps.isDue && this.#isDoubted) this.#tryLess();
    else this.#round = this.#round.next();
  }

  #judgeMore(found: Measured): void {
    const { limit, rate } = this.#base;
    const more = found.limit / limit - 1;
    const gain = more >= 1 ? doublingGain : stepGain * more;
    if (found.rate >= rate * (1 + gain)) {
      this.#steps.broughtMore();
      this.#grow(found);
    } else this.#stay(limit);
  }

  #grow(base: Measured): void {
    this.#base = base;
    if (base.limit < this.#most) this.#tryMore();
    else this.#set(base.limit, "steady");
  }

  #stay(limit: number): void {
    this.#steps.slowDown(this.#base.limit);
    this.#set(limit, "steady");
  }

  // Refusals that go on have to do with the limit, or not: less tells, or more.
  #settled(found: Measured): void {
    this.#base = found;
    this.#isDoubted = found.limit > 1;
    if (found.share < leastShare) this.#set(found.limit, "steady");
    else if (found.limit > 2) this.#tryLess();
    else this.#tryMore();
  }

  #tryLess(): void {
    this.#isDoubted = false;
    this.#steps.slowDown(this.#base.limit);
    this.#set(Math.min(this.#base.limit - 1, acceptedBy(this.#base)), "down");
  }

  #tryMore(): void {
    this.#set(Math.min(this.#most, this.#steps.after(this.#base.limit)), "up");
  }

  #set(limit: number, state: State): void {
    this.limit = limit;
    this.#state = state;
    this.epoch += 1;
    this.#round = this.#round.next();
  }
}

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
export function acceptedBy({ limit, share }: Measured): number {
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
export class AverageShare {
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
  // A Retry-After pauses all places, so it does not count as the rest of this one, unless it is the only one.
  return Math.max(answerMs, shortest) + (limit > 1 ? askedMs : 0);
}

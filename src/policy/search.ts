// Finds the concurrency limit of a run where nobody gave one. The scheme is nearest to PCC Allegro (Dong and others, NSDI
// 2015): it doubles at first, then tries another limit now and then, measures over a round of responses what that brings,
// and keeps it or goes back. What differs: it moves the number in flight, not a rate; one trial at a time, the less they
// bring the rarer; and where 429s go on, a sequential test (Wald, 1945) asks whether they depend on the limit at all. AIMD,
// which lowers its limit at each 429, would be held down by those that do not.
//
// state    | the limit is             | the next state, once the round has enough responses; at once: settling, from steady
//          |                          | or up, where there are more 429s than usual
// steady   | the best that is known   | a step due: up, if the limit was used and no response slow; down, if 429s go on
// up       | a step above the base    | up from here, if it brought enough, or (test) as many are rejected at any limit; else
//          |                          | down, if 429s go on and less was not tried; else steady at the base
// down     | below the base           | (test) up from the base, if as many are rejected at any limit; else steady, if hardly
//          |                          | any are here; else settling at what the service accepted
// settling | what 429s left in flight | steady, if hardly any more are rejected; else down, or from 1 and 2 up
import type { AttemptTimes } from "./retry.js";

// What nearly every service accepts at once, and cheap where it does not.
const firstLimit = 4;
// The share of 429s in fewer responses is mostly chance.
const fewestSamples = 16;
// Fewer good responses tell nothing of the speed, unless there are hardly any.
const fewestGood = 10;
// A doubling that brings no fifth more only makes a queue longer. Of a smaller step half of itself is enough: the rest is noise.
const doublingGain = 0.2;
const stepGain = 0.5;
// Responses that take more than twice the best have waited in a queue: the service is asked for no more.
const slowest = 2;
// With less of the limit in use, the source or the rate is what holds the run up, and a larger limit changes nothing.
const fullShare = 0.75;
// The logarithm of how much more likely one reason is than the other: 4 is 55 times, so that one test of 56 errs.
const certain = 4;
// A smaller share of 429s costs less than to look for its reason; and no measured share is nearer to 0 or 1 for certain.
const leastShare = 0.03;
// The weight of one response in the time that a response takes of late: that of TCP's round-trip time (RFC 6298).
const smoothing = 1 / 8;
// The only slot is paused for at least so long: nothing else keeps the run from five rejected attempts in a second and more.
const onlySlotMs = 200;
// A service that counts by time counts by seconds: any slot is paused so long where it asked for time, or counts others too.
const longSlotMs = 1000;

type State = "steady" | "up" | "down" | "settling";

/** The concurrency limit that serves a run best; the clock is the caller's. */
export class LimitSearch {
  limit: number;
  /** Counts the changes of the limit: the response to an attempt that began in an earlier epoch tells nothing of the present limit. */
  epoch = 0;
  /** Whether other processes send to the same service. */
  sharesService = false;
  #most: number;
  #state: State = "steady";
  // The limit to go back to: how many good responses it brought in a millisecond, and the share of 429s.
  #base = { limit: firstLimit, rate: 0, share: 0 };
  readonly #steps: Steps = new Steps();
  readonly #usual: UsualRejections = new UsualRejections();
  // Whether the 429s at the base may come from its limit, and less has not been tried.
  #isDoubted = false;
  // The 429s of the epoch before lower the limit so far: they show how many were too many.
  #fewest: number;
  // How long a good response takes of late, and how long at best.
  #responseMs = 0;
  #fastestMs = Number.POSITIVE_INFINITY;
  #round: Round = new Round(0);
  // A slot is one of the limit. When those that are paused may be used again, in order.
  readonly #pausedSlots: number[] = [];

  /** @param most The limit never exceeds it */
  constructor(most: number) {
    this.#most = most;
    this.limit = this.#fewest = Math.min(firstLimit, most);
  }

  /** The limit never exceeds `most` from now on. */
  cap(most: number): void {
    this.#most = Math.min(this.#most, most);
    if (this.limit > this.#most) this.#set(this.#most, "steady");
  }

  /** When a slot is free, where only paused ones are left; else 0. */
  opensAt(now: number, inFlight: number): number {
    const slots = this.#pausedSlots;
    while ((slots[0] ?? now + 1) <= now) slots.shift();
    return inFlight < this.limit && inFlight + slots.length >= this.limit ? (slots[0] ?? 0) : 0;
  }

  /** Time has passed with so many in flight. */
  passed(now: number, inFlight: number): void {
    this.#round.passed(now, inFlight, this.#pausedSlots.length);
  }

  /** An attempt got a response that is no sign of overload. */
  answered({ epoch, began, ended }: AttemptTimes): void {
    this.#responseMs += (ended - began - this.#responseMs) * (this.#responseMs > 0 ? smoothing : 1);
    if (epoch !== this.epoch) return;
    this.#round.addGood(ended - began, this.#samples);
    this.#judge();
  }

  /**
   * An attempt was rate limited. Its slot is paused, unless the limit is lowered by it: else the next attempt would be
   * rejected at once, and again.
   * @param inFlight How many are in flight without it
   * @param askedMs How long the service asked to wait
   */
  rateLimited({ epoch, ended }: AttemptTimes, inFlight: number, askedMs: number): void {
    const before = this.limit;
    if (epoch === this.epoch) {
      this.#round.rejected += 1;
      const isSure = this.#state === "steady" || this.#state === "up";
      if (isSure && this.#usual.areExceededBy(this.#round)) {
        const fewest = this.#state === "up" ? this.#base.limit : Math.max(1, this.limit >> 1);
        this.#steps.slowDown(this.#base.limit);
        this.#set(this.limit, "settling", fewest);
      } else this.#judge();
    }
    // The service accepted those that are left.
    if (epoch === this.epoch - 1) this.limit = Math.max(this.#fewest, Math.min(this.limit, inFlight));
    if (this.limit < before) return;
    this.#pausedSlots.push(ended + this.#slotMs(askedMs));
    this.#pausedSlots.sort((a, b) => a - b);
  }

  // How long the slot of a rejected attempt is paused.
  #slotMs(askedMs: number): number {
    // 429s that have nothing to do with the limit are no reason to wait.
    const isLong = this.sharesService && !(this.#steps.areWide && this.#usual.share > 0);
    const isOnly = this.limit === 1;
    const shortest = isLong || askedMs > 0 ? longSlotMs : isOnly ? onlySlotMs : 0;
    // The whole run pauses for the time that was asked for. One slot of several is paused after that too; the only one is not.
    return Math.max(this.#responseMs, shortest) + (isOnly ? 0 : askedMs);
  }

  // How many responses end a round: as many as may be in flight, and more once there was a reason to look closely.
  get #samples(): number {
    const isClean = this.#round.rejected === 0 && this.#steps.areWide;
    return Math.max(isClean ? firstLimit : fewestSamples, this.limit);
  }

  #judge(): void {
    const round = this.#round;
    const samples = this.#samples;
    if (round.ended < samples) return;
    if (this.#base.share > 0 && (this.#state === "up" || this.#state === "down")) {
      this.#test();
      return;
    }
    if (round.rejected > 0 && round.good < fewestGood && round.ended < 4 * samples) return;
    if (this.#state === "settling") this.#usual.found(round);
    else this.#usual.follow(round);
    if (round.rejected === 0) this.#fastestMs = Math.min(this.#fastestMs, round.responseMs);
    this.#steps.passed(round.ended);
    if (this.#state === "up") this.#judgeMore();
    else if (this.#state === "settling") this.#settled();
    else this.#goOn();
  }

  // Whether 429s depend on the limit.
  #test(): void {
    const round = this.#round;
    const { limit, share } = this.#base;
    const evidence = round.evidence(this.#base, this.limit);
    // After so many the likelier reason is taken: it makes little difference.
    if (Math.abs(evidence) < certain && round.ended < 8 * Math.max(fewestSamples, this.limit)) return;
    this.#steps.passed(round.ended);
    if (evidence > 0) {
      // They do not: the limit may grow in spite of them.
      this.#steps.areWide = true;
      this.#grow(Math.max(limit, this.limit), this.#usual.join(round, share));
    } else if (this.#state === "down") {
      this.#usual.share = 0;
      if (round.share < leastShare) this.#set(this.limit, "steady");
      else this.#set(accepted(this.limit, round.share), "settling");
    } else if (this.#isDoubted) this.#tryLess();
    else this.#stay();
  }

  #goOn(): void {
    const round = this.#round;
    const { share } = this.#usual;
    this.#base = { limit: this.limit, rate: round.rate, share };
    const isFull = round.inUse > fullShare * (1 - round.share) * this.limit;
    const isFast = round.responseMs <= slowest * this.#fastestMs;
    this.#isDoubted = share > 0 && this.limit > 1;
    if (this.#steps.areDue && isFull && isFast && this.limit < this.#most) this.#tryMore();
    else if (this.#steps.areDue && this.#isDoubted) this.#tryLess();
    else this.#round = round.next();
  }

  // Whether a larger limit brought enough.
  #judgeMore(): void {
    const { limit, rate } = this.#base;
    const more = this.limit / limit - 1;
    const gain = more >= 1 ? doublingGain : stepGain * more;
    if (this.#round.rate >= rate * (1 + gain)) {
      this.#steps.broughtMore();
      this.#grow(this.limit, this.#round.share);
    } else this.#stay();
  }

  #grow(limit: number, share: number): void {
    this.#base = { limit, rate: this.#round.rate, share };
    if (limit < this.#most) this.#tryMore();
    else this.#set(limit, "steady");
  }

  #stay(): void {
    this.#steps.slowDown(this.#base.limit);
    this.#set(this.#base.limit, "steady");
  }

  // 429s that go on depend on the limit, or not: less tells, or more.
  #settled(): void {
    const { rate, share } = this.#round;
    this.#base = { limit: this.limit, rate, share };
    this.#isDoubted = this.limit > 1;
    if (share < leastShare) this.#set(this.limit, "steady");
    else if (this.limit > 2) this.#tryLess();
    else this.#tryMore();
  }

  #tryLess(): void {
    const { limit, share } = this.#base;
    this.#isDoubted = false;
    this.#steps.slowDown(limit);
    this.#set(Math.min(limit - 1, accepted(limit, share)), "down");
  }

  #tryMore(): void {
    this.#set(Math.min(this.#most, this.#steps.after(this.#base.limit)), "up");
  }

  #set(limit: number, state: State, fewest: number = limit): void {
    this.limit = limit;
    this.#state = state;
    this.#fewest = fewest;
    this.epoch += 1;
    this.#round = this.#round.next();
  }
}

// How many of a limit were not rejected.
function accepted(limit: number, share: number): number {
  return Math.max(1, Math.round(limit * (1 - share)));
}

/** Measures the attempts that began with one limit. */
class Round {
  good = 0;
  rejected = 0;
  #lateGood = 0;
  #lateMs = 0;
  // How many were in flight, and how many slots were paused, each times how long.
  #inFlightMs = 0;
  #pausedMs = 0;
  #began: number;
  #last: number;

  constructor(now: number) {
    this.#began = this.#last = now;
  }

  get ended(): number {
    return this.good + this.rejected;
  }

  /** The share of the attempts that were rate limited. */
  get share(): number {
    return this.rejected / this.ended;
  }

  /** How long a good response took. */
  get responseMs(): number {
    return this.#lateMs / Math.max(1, this.#lateGood);
  }

  /** Good responses in a millisecond. */
  get rate(): number {
    return this.#inFlightMs / this.#ms / Math.max(1, this.responseMs);
  }

  /** How many slots were in use on average: in flight or paused. */
  get inUse(): number {
    return this.#inFlightMs / this.#ms + this.#pausedMs / this.#ms;
  }

  get #ms(): number {
    return Math.max(1, this.#last - this.#began);
  }

  passed(now: number, inFlight: number, paused: number): void {
    // The first attempt of a run begins its first round.
    if (this.#last === 0) this.#began = this.#last = now;
    this.#inFlightMs += inFlight * (now - this.#last);
    this.#pausedMs += paused * (now - this.#last);
    this.#last = now;
  }

  /** @param samples How many responses end the round: the first half of a larger number do not wait for each other yet */
  addGood(ms: number, samples: number): void {
    const isLate = 2 * (this.ended + 1) > samples;
    this.good += 1;
    if (!isLate) return;
    this.#lateGood += 1;
    this.#lateMs += ms;
  }

  /**
   * Above 0 where the share of 429s is that of the base again, whatever the limit; below 0 where the service accepted no
   * more than it accepted there. The logarithm of how much more likely the one is than the other.
   */
  evidence(base: { readonly limit: number; readonly share: number }, limit: number): number {
    const same = possible(base.share);
    const full = possible(1 - ((1 - base.share) * base.limit) / limit);
    return this.rejected * Math.log(same / full) + this.good * Math.log((1 - same) / (1 - full));
  }

  /** The round that begins where this one ends. */
  next(): Round {
    return new Round(this.#last);
  }
}

// By chance a round may have all attempts rejected, or none.
function possible(share: number): number {
  return Math.min(1 - leastShare, Math.max(leastShare, share));
}

/** The 429s that have nothing to do with the limit: their share of the attempts, as far as is known. */
class UsualRejections {
  share = 0;
  // The number of responses by which it is known.
  #known = 0;

  /** A round that was to find the share out. */
  found({ share, ended }: Round): void {
    this.#set(share);
    this.#known = ended;
  }

  /** A round like those before has the weight of a quarter, and raises the share by a tenth at most: its own is partly chance. */
  follow({ share }: Round): void {
    this.#set(Math.min(1.1 * this.share, 0.75 * this.share + 0.25 * share));
  }

  /** A round with another limit has the same share. @param before The share that was known */
  join({ rejected, ended }: Round, before: number): number {
    this.#set((before * this.#known + rejected) / (this.#known + ended));
    this.#known += ended;
    return this.share;
  }

  /** Whether a round has more: half as many again, and three that may be chance; where there were none, a single one. */
  areExceededBy({ rejected, ended }: Round): boolean {
    return rejected > (this.share > 0 ? 1.5 * this.share * ended + 3 : 0);
  }

  #set(share: number): void {
    this.share = share < leastShare ? 0 : share;
  }
}

// A step that may bring 429s is small, once one was in the way.
const smallStep = 1 / 8;
// Responses between two such steps: a small part of them may be rejected. Twice as many after each that brought nothing.
const firstGap = 64;
// The service may have changed: a gap grows no longer than this, and for a small limit than 16 responses for each slot more.
const longestGap = 1024;
const gapForEach = 16;

/** How far the limit steps up, and how often: it doubles until something is in its way. */
class Steps {
  areWide = true;
  // How many responses are to come before the next step, and before the one after that.
  #left = 0;
  #nextGap: number = firstGap;

  /** Whether there were responses enough since the last step that brought nothing. */
  get areDue(): boolean {
    return this.#left <= 0;
  }

  after(limit: number): number {
    return limit + (this.areWide ? limit : Math.max(1, Math.floor(limit * smallStep)));
  }

  passed(responses: number): void {
    this.#left -= responses;
  }

  slowDown(limit: number): void {
    this.areWide = false;
    this.#left = this.#nextGap;
    const longest = Math.min(longestGap, firstGap + gapForEach * limit);
    this.#nextGap = Math.min(longest, this.#nextGap * 2);
  }

  broughtMore(): void {
    this.#nextGap = firstGap;
  }
}

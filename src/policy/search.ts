// Finds the concurrency limit of a run for which none was given. The scheme is nearest to PCC Allegro (Dong and others,
// NSDI 2015): it doubles the limit at first, later tries another limit now and then, measures over a round of responses
// what the trial brings, and keeps the new limit or goes back. Unlike PCC, it moves the number in flight, not a rate;
// makes one trial at a time, and fewer if they bring little; and if 429s go on, a sequential test (Wald, 1945) tells if
// they depend on the limit at all. AIMD would lower its limit even for 429s that do not.
// After a round the state changes as below; more 429s than usual in steady or up lead to settling at once. The base is
// the limit to go back to; "the test" is Wald's.
// state    | the limit is             | the next state
// steady   | the best that is known   | when a step is due: up, if the limit was used and is fast; down, if 429s go on
// up       | a step above the base    | up again, if it brought enough or the test finds that 429s ignore the limit;
//          |                          | else down, if 429s go on and less was not tried; else steady at the base
// down     | below the base           | up from the base, if the test finds that 429s ignore the limit; else steady, if
//          |                          | 429s are rare here; else settling at what the service accepted
// settling | what 429s left in flight | steady, if further 429s are rare; else down, or up from a limit of 1 or 2
import type { AttemptTimes } from "./retry.js";

// Nearly every service accepts this many at once, and the trial is cheap if one does not.
const firstLimit = 4;
// The share of 429s in fewer responses is mostly chance.
const fewestSamples = 16;
// Fewer good responses tell nothing about the speed, unless nearly all are 429s.
const fewestGood = 10;
// Doubling must bring 20 % more, or it only makes a queue longer. A smaller step must bring half its own size: noise.
const doublingGain = 0.2;
const stepGain = 0.5;
// Responses that take more than twice the best time waited in a queue: the limit is then not raised.
const slowest = 2;
// If less of the limit is in use, the source or the rate holds the run up, and a larger limit changes nothing.
const fullShare = 0.75;
// The log likelihood ratio at which the test decides: at 4, one reason is 55 times as likely, so 1 test in 56 errs.
const certain = 4;
// A smaller share of 429s costs less than a search for its reason. The test takes no share as nearer to 0 or 1.
const leastShare = 0.03;
// The weight of one response in the smoothed response time, as for TCP's round-trip time (RFC 6298).
const smoothing = 1 / 8;
// The shortest pause of a slot if the limit is 1: without it, more than five attempts a second could be rejected.
const onlySlotMs = 200;
// The shortest pause of a slot if the service asked for a wait or counts other processes too: it counts by seconds.
const longSlotMs = 1000;

type State = "steady" | "up" | "down" | "settling";

/** Finds the concurrency limit that serves a run best. Callers pass in the time. */
export class LimitSearch {
  limit: number;
  /** Counts changes of the limit: an attempt that began in an earlier epoch tells nothing about the present limit. */
  epoch = 0;
  /** Whether other processes send to the same service. */
  sharesService = false;
  #most: number;
  #state: State = "steady";
  // The base: the limit to go back to, its good responses per millisecond, and its share of 429s.
  #base = { limit: firstLimit, rate: 0, share: 0 };
  readonly #steps: Steps = new Steps();
  readonly #usual: UsualRejections = new UsualRejections();
  // Whether the base's limit may cause its 429s, and no lower limit has been tried.
  #isDoubted = false;
  // How far 429s to attempts of the previous epoch may lower the limit: they show how many were too many.
  #fewest: number;
  // The smoothed time of a good response, and the shortest average of a round.
  #responseMs = 0;
  #fastestMs = Number.POSITIVE_INFINITY;
  #round: Round = new Round(0);
  // A slot is room for one attempt within the limit. The times at which paused slots become free, in order.
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

  /** When the next slot becomes free, if only paused slots are left; else 0. */
  opensAt(now: number, inFlight: number): number {
    const slots = this.#pausedSlots;
    while ((slots[0] ?? now + 1) <= now) slots.shift();
    return inFlight < this.limit && inFlight + slots.length >= this.limit ? (slots[0] ?? 0) : 0;
  }

  /** Records that time has passed with `inFlight` attempts in flight. */
  passed(now: number, inFlight: number): void {
    this.#round.passed(now, inFlight, this.#pausedSlots.length);
  }

  /** Records that an attempt got a response that is no sign of overload. */
  answered({ epoch, began, ended }: AttemptTimes): void {
    this.#responseMs += (ended - began - this.#responseMs) * (this.#responseMs > 0 ? smoothing : 1);
    if (epoch !== this.epoch) return;
    this.#round.addGood(ended - began, this.#samples);
    this.#judge();
  }

  /**
   * Records that an attempt was rate limited. This lowers the limit or pauses the attempt's slot: otherwise attempt
   * after attempt would be rejected at once.
   * @param inFlight How many other attempts are in flight
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
    // The service accepted the attempts that are still in flight.
    if (epoch === this.epoch - 1) this.limit = Math.max(this.#fewest, Math.min(this.limit, inFlight));
    if (this.limit < before) return;
    this.#pausedSlots.push(ended + this.#slotMs(askedMs));
    this.#pausedSlots.sort((a, b) => a - b);
  }

  // How long the slot of a rate limited attempt is paused.
  #slotMs(askedMs: number): number {
    // 429s that do not depend on the limit are no reason to wait.
    const isLong = this.sharesService && !(this.#steps.areWide && this.#usual.share > 0);
    const isOnly = this.limit === 1;
    const shortest = isLong || askedMs > 0 ? longSlotMs : isOnly ? onlySlotMs : 0;
    // The whole run pauses for the wait asked for. One slot of several stays paused after it; an only slot does not.
    return Math.max(this.#responseMs, shortest) + (isOnly ? 0 : askedMs);
  }

  // How many responses end a round: the limit; at least 16 once 429s or a failed step gave reason to look closely.
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

  // Tests whether 429s depend on the limit.
  #test(): void {
    const round = this.#round;
    const { limit, share } = this.#base;
    const evidence = round.evidence(this.#base, this.limit);
    // After this many responses the likelier reason is taken: if no reason is clear, it makes little difference.
    if (Math.abs(evidence) < certain && round.ended < 8 * Math.max(fewestSamples, this.limit)) return;
    this.#steps.passed(round.ended);
    if (evidence > 0) {
      // The 429s do not depend on the limit, which may grow in spite of them.
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

  // Judges whether a larger limit brought enough.
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

  // If 429s go on, a lower limit, or a higher one, tells whether they depend on the limit.
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

// How many of `limit` attempts were not rejected.
function accepted(limit: number, share: number): number {
  return Math.max(1, Math.round(limit * (1 - share)));
}

/** Measures the attempts that began with one limit. */
class Round {
  good = 0;
  rejected = 0;
  #lateGood = 0;
  #lateMs = 0;
  // The attempts in flight and the paused slots, each number multiplied by its milliseconds and summed up.
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

  /** Good responses per millisecond. */
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

  /** @param samples How many responses end the round. The first half is not timed: it does not queue yet */
  addGood(ms: number, samples: number): void {
    const isLate = 2 * (this.ended + 1) > samples;
    this.good += 1;
    if (!isLate) return;
    this.#lateGood += 1;
    this.#lateMs += ms;
  }

  /**
   * The log likelihood ratio of two reasons for 429s. Above 0: their share is the base's, whatever the limit. Below 0:
   * the service accepted no more than at the base.
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

// Keeps a share away from 0 and 1: by chance, a round may have all attempts rejected, or none.
function possible(share: number): number {
  return Math.min(1 - leastShare, Math.max(leastShare, share));
}

/** The measured share of attempts that get a 429 whatever the concurrency limit is. */
class UsualRejections {
  share = 0;
  // How many responses the share was measured over.
  #known = 0;

  /** Takes the share from a round that was made to measure it. */
  found({ share, ended }: Round): void {
    this.#set(share);
    this.#known = ended;
  }

  /** Adds an ordinary round with the weight of a quarter. It raises the share by at most a tenth: some is chance. */
  follow({ share }: Round): void {
    this.#set(Math.min(1.1 * this.share, 0.75 * this.share + 0.25 * share));
  }

  /** Adds a round that had the same share at another limit. @param before The share known so far */
  join({ rejected, ended }: Round, before: number): number {
    this.#set((before * this.#known + rejected) / (this.#known + ended));
    this.#known += ended;
    return this.share;
  }

  /** Whether a round has more 429s than usual: over 1.5 times the share, plus 3 for chance; if none are usual, any. */
  areExceededBy({ rejected, ended }: Round): boolean {
    return rejected > (this.share > 0 ? 1.5 * this.share * ended + 3 : 0);
  }

  #set(share: number): void {
    this.share = share < leastShare ? 0 : share;
  }
}

// Once a step failed, later steps may bring 429s, and are this share of the limit.
const smallStep = 1 / 8;
// Responses between two small steps, so that few are rejected. The gap doubles after each step that brought nothing.
const firstGap = 64;
// The longest gap, as the service may change. For a small limit the longest gap is firstGap plus 16 for each slot.
const longestGap = 1024;
const gapForEach = 16;

/** How far and how often the limit steps up: it doubles until a step brings nothing. */
class Steps {
  areWide = true;
  // How many responses must come before the next step, and the gap to the step after it.
  #left = 0;
  #nextGap: number = firstGap;

  /** Whether enough responses came since the last step that brought nothing. */
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

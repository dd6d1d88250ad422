// Finds the concurrency limit of a run for which none was given. The start is that of TCP: the limit doubles until
// responses come no faster (as in TCP Vegas) or the service rejects requests. After that it is held at what the service
// accepted, and from time to time grows by small steps, which become larger as they succeed (as in CUBIC), so that few
// requests are rejected. Two things are not as in TCP. The share of rejections counts all attempts that began, as a 429
// comes long before the good responses to attempts that began with it. And if rejections go on, a sequential test
// (Wald, 1945) tells if they depend on the limit at all: AIMD would lower its limit even for 429s that do not.
// state    | the limit is              | the next state
// growing  | larger with each round    | draining at a 429; steady at the base, if it only made responses slow
// steady   | the best that is known    | when a step is due: growing, or higher if 429s are usual; draining at more 429s
//          |                           | than usual
// draining | lower by each 429 to an   | settling, once an attempt that began in this state got a good response
//          | attempt from before       |
// settling | what was accepted         | steady, if 429s are rare; draining, if most are 429s; else lower or higher
// lower    | below the base            | higher, if 429s ignore the limit; else steady, or settling at what was accepted
// higher   | 2 or 4 times the base     | higher again, if 429s ignore the limit; else settling or steady at the base
import { fewAtOnce } from "./decisions.js";
import type { AttemptTimes } from "./retry.js";
import { leastShare, Round } from "./round.js";
import { gapAfterSlow, Steps } from "./steps.js";

// The fewest responses by which a round is judged: in fewer, the share of 429s is mostly chance.
const fewestSamples = 8;
// The fewest 429s in a round that are more than chance.
const fewestRejected = 3;
// Once a test showed that 429s do not depend on the limit, limits from 4 to this are multiplied by 4, others by 2:
// larger steps would harm other programs that share the rate.
const smallLimit = 8;
// So many good responses, as a share of the limit, are needed to judge their speed: the first ones hardly queued.
const judgedShare = 0.6;
// Responses that take over `slowest` times the usual time waited in a queue. The throughput must then have grown by at
// least a fifth (`leastGain`) of what the limit grew by: otherwise a larger limit only makes the queue longer.
const slowest = 1.5;
const leastGain = 0.2;
// If a smaller share of the limit is in use, the source or the rate holds the run up: a larger limit changes nothing.
const fullShare = 0.75;
// The log likelihood ratio at which the test decides: at 4, one reason is 55 times as likely, so 1 test in 56 errs.
const certain = 4;
// A service in trouble rejects everything for a moment. So if responses take longer than `slowResponseMs`, fewer than
// `fewestBursts` bursts of 429s prove nothing. With fast responses, a rate limit per second looks like such bursts.
const slowResponseMs = 500;
const fewestBursts = 3;
// The weight of one response in the smoothed response time, as for TCP's round-trip time (RFC 6298).
const smoothing = 1 / 8;
// The weight of one round in the smoothed median of response times (`#usualMs`) and share of 429s (`#usual`).
const roundWeight = 1 / 4;
// The shortest pause after a 429 if the limit is 1: without it, more than five attempts a second could be rejected.
const onlySlotMs = 200;
// The shortest pause of a slot (room for one attempt) after a 429 that asked to wait, or if other processes send, too:
// the service then counts requests by the second.
const longSlotMs = 1000;
type State = "growing" | "steady" | "draining" | "settling" | "lower" | "higher";

/** Finds the concurrency limit that serves a run best. */
export class LimitSearch {
  limit: number;
  /** Grows with each new state and each whole step of the limit. A round counts good responses of its epoch alone. */
  epoch = 0;
  /** Whether other processes send to the same service. */
  sharesService = false;
  #most: number;
  #state: State = "growing";
  // The number of the epoch in which the present state began; draining and the settling after it count as one state.
  #since = 0;
  #round: Round = new Round(fewAtOnce);
  // The base: the limit to go back to, and its share of 429s.
  #base = { limit: fewAtOnce, share: 0 };
  readonly #steps: Steps = new Steps();
  // `#usual`: the share of attempts that get a 429 at any limit. `#ignoreLimit`: whether a test showed that it is so.
  #usual = 0;
  #ignoreLimit = false;
  // Rejected and ended attempts: of a series of tests (`#tested`), and while the limit was at most 4 (`#few`).
  #tested = { rejected: 0, ended: 0 };
  #few = { rejected: 0, ended: 0 };
  // How many 429s at a small limit start a test. The number doubles with each test that led back to the lower limit.
  #doubtful: number = fewestRejected;
  // `#fewest`: the lowest limit while draining, which each 429 to an earlier attempt lowers by 1. `#floor`: after it.
  #fewest = 0;
  #floor = 0;
  // Whether the service ever asked to wait: it then limits a rate, and would only reject more after a larger step.
  #asksToWait = false;
  // The smoothed time of one good response, and the smoothed median of a round's, in milliseconds.
  #responseMs = 0;
  #usualMs = 0;
  #inFlight = 0;
  // The limit that an earlier run found; 0 once this run's limit is as high, or its search has entered a new state.
  #found = 0;
  // A slot is room for one attempt within the limit. The times at which paused slots become free, in order.
  readonly #pausedSlots: number[] = [];

  /** @param earlier What an earlier run with the same service learned */
  constructor(most: number, earlier: LimitSearch["learned"] = { limit: 0, isStart: true }) {
    const found = Math.min(most, earlier.limit);
    this.#most = most;
    this.limit = Math.min(fewAtOnce, most);
    if (found <= fewAtOnce) return;
    this.#found = found;
    this.#steps.isStart = earlier.isStart;
    // Half of what the earlier run found, as the service may accept less by now.
    this.limit = Math.max(fewAtOnce, Math.ceil(found / 2));
    this.#round = new Round(this.limit);
  }

  /** The limit that the service is known to accept; `isStart`: whether it still doubles, as no request was rejected. */
  get learned(): { readonly limit: number; readonly isStart: boolean } {
    const { isStart } = this.#steps;
    const state = this.#state;
    const isTrial = state === "growing" ? !isStart : state === "lower" || state === "higher";
    return { limit: Math.max(this.#found, isTrial ? this.#base.limit : this.limit), isStart };
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

  /** Records that an attempt begins while `inFlight` others are in flight. */
  began(inFlight: number): void {
    this.#inFlight = inFlight + 1;
    this.#round.begun += 1;
  }

  /** Records that one of `inFlight` attempts ended. */
  ended(inFlight: number): void {
    this.#inFlight = inFlight;
  }

  /** Records that an attempt got a response that is no sign of overload. */
  responded({ epoch, began, ended, busyMs = 0 }: AttemptTimes): void {
    const ms = ended - began;
    this.#responseMs += (ms - this.#responseMs) * (this.#responseMs > 0 ? smoothing : 1);
    this.#countFew(0);
    const isFull = this.#inFlight + this.#pausedSlots.length > fullShare * this.limit;
    if (epoch === this.epoch) {
      this.#round.good.push(ms);
      this.#round.least.push(Math.max(0, ms - busyMs));
      this.#judge(isFull);
    }
    if (this.#state !== "growing" || !isFull || this.limit >= this.#most || this.#steps.isStart) return;
    // Each good response adds a part of a step.
    if (!this.#steps.grow(this.#round.limit)) return;
    this.limit += 1;
    if (this.#steps.isWhole(this.#round.limit, this.limit)) this.#growOn(this.limit, this.#round.limit);
  }

  /**
   * Records that an attempt was rate limited. This lowers the limit or pauses the attempt's slot: otherwise attempt
   * after attempt would be rejected at once.
   * @param askedMs How long the service asked to wait
   */
  rateLimited({ epoch, ended }: AttemptTimes, askedMs: number): void {
    const before = this.limit;
    this.#asksToWait ||= askedMs > 0;
    this.#countFew(1);
    if (epoch >= this.#since) {
      this.#round.reject(ended, this.#responseMs);
      const { rejected, begun } = this.#round;
      const isHigher = this.#state === "higher" && this.#usual > 0;
      const isSure = this.#state === "growing" || this.#state === "steady" || isHigher;
      // More 429s than usual are over 1.5 times their usual number plus 3. If none are usual, 1 is enough.
      const most = this.#usual > 0 ? 1.5 * this.#usual * (begun + this.limit) + 3 : 0;
      if (isSure && rejected > most) this.#drain();
      else if (this.#state !== "draining") this.#judge(false);
    }
    if (this.#state === "draining" && epoch < this.#since)
      this.limit = Math.max(this.#fewest, this.limit - 1);
    if (this.limit < before) return;
    // 429s that do not depend on the limit are no reason to pause the slot.
    const isLong = this.sharesService && !this.#ignoreLimit;
    const isOnly = this.limit === 1;
    const shortest = isLong || askedMs > 0 ? longSlotMs : isOnly ? onlySlotMs : 0;
    // The wait that the service asked for pauses the whole run. After it, the slot of this attempt stays paused, unless it
    // is the only one.
    const pauseMs = Math.max(this.#responseMs, shortest) + (isOnly ? 0 : askedMs);
    this.#pausedSlots.push(ended + pauseMs);
    this.#pausedSlots.sort((a, b) => a - b);
  }

  #countFew(rejected: number): void {
    if (this.limit > fewAtOnce || this.#state === "growing") return;
    this.#few.ended += 1;
    this.#few.rejected += rejected;
  }

  #judge(isFull: boolean): void {
    if (this.#state === "growing") this.#judgeSpeed(isFull);
    else if (this.#state === "steady") this.#goOn(isFull);
    else if (this.#state === "draining") {
      if (this.#round.rejected > 0)
        this.limit = Math.min(this.limit, Math.max(this.#floor, fewAtOnce, this.#inFlight));
      this.#state = "settling";
      this.#round = new Round(this.limit);
    } else if (this.#state === "settling") this.#settle();
    else this.#decide();
  }

  #growOn(limit: number, base: number): void {
    this.#base = { limit: base, share: 0 };
    this.limit = limit;
    this.epoch += 1;
    this.#round = new Round(limit);
  }

  // Judges whether a larger limit made responses slow.
  #judgeSpeed(isFull: boolean): void {
    const round = this.#round;
    const isFirst = this.#usualMs === 0 && this.limit <= fewAtOnce;
    const samples = isFirst ? this.limit : Math.max(fewestSamples, Math.ceil(judgedShare * this.limit));
    if (round.good.length < samples) return;
    const ms = isFirst ? round.medianMs : round.lateMs;
    if (this.#usualMs === 0) this.#usualMs = ms;
    const more = this.limit / this.#base.limit;
    // A busy event loop delays responses, too: only leastMs, the time that the service took at least, can end the growth.
    const { leastMs } = round;
    const isSlow = leastMs > slowest * this.#usualMs;
    if (isSlow && (more * this.#usualMs) / leastMs < 1 + leastGain * (more - 1)) {
      this.limit = Math.min(this.limit, this.#base.limit);
      this.#rest(this.#steps.gapAfterSlow());
      return;
    }
    this.#usualMs += (ms - this.#usualMs) * (isSlow ? 1 : roundWeight);
    if (this.limit >= this.#most) this.#rest(gapAfterSlow);
    else if (!isFull) this.#round = new Round(round.limit);
    else if (this.#steps.isStart) this.#growOn(Math.min(this.#most, 2 * this.limit), this.limit);
    else if (this.#found > 0) {
      // The service accepts half of the limit that an earlier run found. All of it is next, then a small step.
      this.limit = this.#found;
      this.#steps.resume(this.limit);
      this.#rest(this.limit);
    }
  }

  #goOn(isFull: boolean): void {
    const round = this.#round;
    if (round.ended >= Math.max(fewestSamples, this.limit)) {
      if (round.good.length >= fewestSamples) this.#usualMs += (round.medianMs - this.#usualMs) * roundWeight;
      // The usual share of 429s rises by at most a tenth at a time, because some 429s are chance.
      const share = this.#usual + (round.share - this.#usual) * roundWeight;
      this.#usual = share < leastShare ? 0 : Math.min(1.1 * this.#usual, share);
      this.#round = new Round(this.limit);
    }
    this.#steps.left -= 1;
    if (this.#steps.left > 0 || !isFull || this.limit >= this.#most) return;
    this.#base = { limit: this.limit, share: this.#usual };
    if (this.#usual > 0) this.#set(Math.min(this.#most, 2 * this.limit), "higher");
    else {
      this.#steps.begin();
      this.#set(this.limit, "growing");
    }
  }

  // Starts to lower the limit after more 429s than usual, to the attempts that are in flight: the service accepted those.
  #drain(): void {
    if (this.#state === "steady" && this.limit <= fewAtOnce && this.#few.rejected >= this.#doubtful) {
      this.#test(this.#few);
      return;
    }
    const isStep = this.#state === "growing";
    const limit = Math.min(this.limit, this.#inFlight);
    this.#fewest = Math.max(1, isStep ? this.#base.limit : this.limit >> 1);
    this.#floor = isStep && !this.#steps.isStart ? this.#fewest : 1;
    if (this.#state === "steady") this.#steps.dropped();
    this.#ignoreLimit = false;
    this.#usual = 0;
    this.#set(limit, "draining");
  }

  #settle(): void {
    const round = this.#round;
    const { rejected, ended } = round;
    // At a limit this small, only a higher one is tested: it costs little, and a lower one would show nothing soon.
    const isFew = this.limit <= fewAtOnce;
    const isTested = rejected >= (isFew ? this.#doubtful : fewestRejected);
    if (rejected >= fewestRejected && 2 * rejected > ended && !isFew) this.#drain();
    else if (isTested && ended >= fewestSamples && rejected >= leastShare * ended) this.#test(round);
    else if (ended >= Math.max(Math.min(fewestSamples, 2 * this.limit), this.limit) * (1 + rejected))
      this.#rest(this.#steps.gap(this.limit, this.sharesService));
  }

  // If 429s go on, a lower limit, or a higher one, tells whether they depend on the limit.
  #test({ rejected, ended }: { readonly rejected: number; readonly ended: number }): void {
    const share = rejected / ended;
    this.#tested = { rejected, ended };
    this.#base = { limit: this.limit, share };
    if (this.limit > fewAtOnce) this.#set(Math.min(this.limit - 1, accepted(this.limit, share)), "lower");
    else this.#set(Math.min(this.#most, 2 * this.limit), "higher");
  }

  #decide(): void {
    const round = this.#round;
    const { limit, share } = this.#base;
    const evidence = round.evidence(this.#base, this.limit);
    // Until the first good response nobody knows if the attempts in flight are accepted.
    if (round.good.length === 0 && evidence > 0) return;
    // After this many responses the likelier reason is taken: if no reason is clear, it makes little difference.
    if (Math.abs(evidence) < certain && round.ended < 8 * Math.max(fewestSamples, this.limit)) return;
    const isSlow = this.#responseMs > slowResponseMs;
    if (evidence < 0 && this.#state === "higher" && isSlow && round.bursts < fewestBursts) return;
    if (evidence > 0) this.#raise();
    else if (this.#state === "higher") {
      // The higher limit only had more attempts rejected.
      this.#few = { rejected: 0, ended: 0 };
      this.#doubtful = Math.min(200, 2 * this.#doubtful);
      this.#ignoreLimit = false;
      this.limit = accepted(limit, share);
      this.#usual = this.limit === 1 ? share : 0;
      if (this.limit === 1) this.#rest(this.#steps.gapAfterSlow());
      else this.#set(this.limit, "settling");
    } else if (round.share < leastShare) this.#rest(this.#steps.gap(this.limit, this.sharesService));
    else this.#set(accepted(this.limit, round.share), "settling");
  }

  // Raises the limit after a test that showed that 429s do not depend on it.
  #raise(): void {
    this.#tested.rejected += this.#round.rejected;
    this.#tested.ended += this.#round.begun;
    this.#usual = this.#tested.rejected / this.#tested.ended;
    this.#ignoreLimit = true;
    const from = Math.max(this.#base.limit, this.limit);
    // A test at less than 1.5 times the limit shows nothing: the limit then becomes the largest one at once.
    const limit = 1.5 * from >= this.#most ? this.#most : from;
    this.#base = { limit, share: this.#usual };
    this.limit = limit;
    const isWide = limit >= fewAtOnce && limit <= smallLimit && !this.#asksToWait;
    if (limit < this.#most) this.#set(Math.min(this.#most, (isWide ? 4 : 2) * limit), "higher");
    else this.#rest(gapAfterSlow);
  }

  #rest(gap: number): void {
    this.#steps.left = gap;
    this.#set(this.limit, "steady");
  }

  #set(limit: number, state: State): void {
    this.#found = 0;
    this.limit = limit;
    this.#state = state;
    this.epoch += 1;
    this.#since = this.epoch;
    this.#round = new Round(limit);
  }
}

// How many of `limit` attempts are accepted if this share of attempts is rejected.
function accepted(limit: number, share: number): number {
  return Math.max(1, Math.round(limit * (1 - share)));
}

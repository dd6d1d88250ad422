// The engine of many calls: a lane for each call of a run, and one schedule for when their attempts begin.
import type { Failure } from "../errors/failure.js";
import type { Transport } from "../transport/exchange.js";
import { after, now } from "../transport/time.js";
import type { Limiter } from "./limiter.js";
import type { Pace } from "./rate.js";
import { type AttemptTimes, type Decision, decideRetry, type RetryState } from "./retry.js";

/** A call's time. */
export interface CallDeadline {
  /** Waits for `promise`; resolves to undefined as soon as the call is over. */
  during<T>(promise: Promise<T>): Promise<T | undefined>;
  /** Ends the call. */
  end(reason: "aborted"): void;
}

/** Time, as a schedule needs it. */
export interface Clock {
  now(): number;
  /** Calls `run` after so many milliseconds; the function that it returns prevents that. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's time: a timer of any length, that fires never too early. */
export const machineClock: Clock = { now, after };

/**
 * Lets attempts begin: one limit, one rate and one pause for all calls of a run. Calls that wait for another attempt begin
 * first, in the order in which they came; then `opened` is asked for others.
 */
export class Schedule {
  declare readonly limiter: Limiter;
  declare readonly clock: Clock;
  /** The declared rate. */
  declare readonly pace?: Pace | undefined;
  /** Whether only the deadline of a call ends its retries, as far as the decision table allows them. */
  declare readonly untilDeadline: boolean;
  /** The longest pause that the service may ask for, in milliseconds. */
  declare readonly maxPauseMs?: number | undefined;
  /** How many attempts of this run are in flight. */
  inFlight = 0;
  /** The calls that wait for another attempt. */
  readonly waiting: Set<Lane> = new Set();
  readonly #opened: (now: number) => void;
  #isAdvancing = false;
  #isClosed: boolean;
  #unset: (() => void) | undefined;

  /**
   * @param opened Called when others may begin: it begins as many as it has while the schedule is open. It is
   * called too when a call is to wait that will not get its turn, since the schedule is closed
   */
  constructor(
    given: Pick<Schedule, "limiter" | "clock" | "pace" | "untilDeadline" | "maxPauseMs">,
    opened: (now: number) => void,
  ) {
    // One by one: in an object literal, which each run evaluates again, V8 forgets what it knew of their types.
    this.limiter = given.limiter;
    this.clock = given.clock;
    this.pace = given.pace;
    this.untilDeadline = given.untilDeadline;
    this.maxPauseMs = given.maxPauseMs;
    this.#opened = opened;
    // Assigned twice, undefined first: V8 takes a field that is assigned once for a constant, and compiles again when it changes.
    this.#isClosed = false;
  }

  /** Whether an attempt may begin now. @param endsAt The deadline of its call, if that was tried before */
  isOpen(now: number, endsAt?: number): boolean {
    const { limiter, pace } = this;
    return !this.#isClosed && limiter.isOpen(now, endsAt) && !(pace && pace.opensAt > now);
  }

  /** Has a call begin when its turn comes. */
  add(lane: Lane): void {
    this.waiting.add(lane);
    if (this.#isClosed) this.#opened(this.clock.now());
    else this.advance();
  }

  /** Lets begin what may, here and in the runs that share the limiter: they take turns. */
  advance(): void {
    const { sharers } = this.limiter;
    if (!this.#isClosed) sharers.add(this);
    // Alone, as nearly always: a list of itself for each row costs as much as its turn.
    if (sharers.size === 1 && !this.#isClosed) this.takeTurn();
    else for (const sharer of [...sharers]) sharer.takeTurn();
  }

  takeTurn(): void {
    // What begins may end at once.
    if (this.#isAdvancing || this.#isClosed) return;
    this.#isAdvancing = true;
    const { inFlight, limiter } = this;
    const now = this.clock.now();
    if (this.waiting.size > 0) this.#resume(now);
    if (this.isOpen(now)) this.#opened(now);
    this.#isAdvancing = false;
    const { sharers } = limiter;
    if (sharers.size > 1 && this.inFlight > inFlight && sharers.delete(this)) sharers.add(this);
    this.#sleep(now);
  }

  #resume(now: number): void {
    for (const lane of this.waiting) {
      if (lane.readyAt > now || !this.isOpen(now, lane.endsAt)) continue;
      this.waiting.delete(lane);
      lane.begin(now);
    }
  }

  /** Nothing begins from now on. */
  close(): void {
    this.#isClosed = true;
    this.#unset?.();
    const { sharers } = this.limiter;
    sharers.delete(this);
    this.limiter.isSpent = sharers.size === 0;
  }

  // Until time alone lets something begin.
  #sleep(now: number): void {
    this.#unset?.();
    if (this.#isClosed) return;
    const { limiter, pace, clock } = this;
    const pacedUntil = pace?.opensAt ?? 0;
    const opensAt = Math.max(limiter.opensAt(now), pacedUntil);
    let at = opensAt > now ? opensAt : Number.POSITIVE_INFINITY;
    for (const { readyAt, endsAt } of this.waiting) {
      const isReadyAt = Math.max(readyAt, limiter.opensAt(now, endsAt), pacedUntil);
      if (isReadyAt > now) at = Math.min(at, isReadyAt);
    }
    if (at < Number.POSITIVE_INFINITY) this.#unset = clock.after(at - now, () => this.advance());
  }
}

/**
 * One call of a run. It decides over the attempts of the call, of which the schedule lets all but the first begin: that
 * begins with the call. Its retries cost the client's budget nothing.
 */
export class Lane implements AttemptTimes {
  /** The signal of a run that ends its calls itself: they need not listen to it. */
  declare readonly signal?: unknown;
  /** The size of the call's request; 0 where nobody counts tokens. */
  readonly bytes: number;
  /** The tokens that the last attempt is taken to need. */
  estimated = 0;
  /** Whether the client could make the call. */
  isAdmitted = false;
  /** When the next attempt may begin. */
  readyAt = 0;
  /** The call's deadline. */
  endsAt = 0;
  /** When the last attempt began and ended, and with which limit it began. */
  began = 0;
  ended = 0;
  epoch = 0;
  readonly #schedule: Schedule;
  // Its attempts that ran and came to nothing: each was paid for.
  #paid = 0;
  #isInFlight = false;
  #resume: (() => void) | undefined;

  constructor(schedule: Schedule, bytes = 0) {
    this.#schedule = schedule;
    this.bytes = bytes;
  }

  /** The call begins; `time` can end it. */
  begun?(time: CallDeadline): void;

  /** An attempt begins. */
  begin(now: number): void {
    const schedule = this.#schedule;
    const { limiter, pace } = schedule;
    this.#isInFlight = true;
    this.began = now;
    this.epoch = limiter.begin(now);
    schedule.inFlight += 1;
    if (pace) this.estimated = pace.began(now, this.bytes);
    this.#resume?.();
  }

  /** The client can make the call, over at most so many connections, where it knows. */
  admitted({ maxConnections }: Pick<Transport, "maxConnections">): this {
    this.isAdmitted = true;
    if (maxConnections !== undefined) this.#schedule.limiter.cap(maxConnections);
    return this;
  }

  /**
   * An attempt failed: whether there is another, and when.
   * @param isOfService False where the failure tells nothing of the service
   */
  decide(failure: Failure, state: RetryState, isOfService = true): Decision {
    const { limiter } = this.#schedule;
    const decision = this.#decision(failure, state);
    this.#end();
    this.endsAt = this.ended + state.timeLeftMs;
    if (isOfService) limiter.failed(failure, decision, this, state.random);
    else limiter.ended(this.ended);
    return decision;
  }

  // Until the deadline, but for what was paid for: of that the table's number holds, whatever else was retried.
  #decision(failure: Failure, state: RetryState): Decision {
    const { untilDeadline, maxPauseMs } = this.#schedule;
    if (!untilDeadline || failure.executed !== "yes")
      return decideRetry(failure, state, maxPauseMs, untilDeadline);
    const counted = { ...state, retries: this.#paid++, maxRetries: Number.POSITIVE_INFINITY };
    return decideRetry(failure, counted, maxPauseMs);
  }

  /** Waits until the next attempt begins, but no longer than the call lasts. */
  async wait(ms: number, time: CallDeadline): Promise<void> {
    // From the end of the attempt, which is before the pause that it brought: when that is over, this call is the first.
    this.readyAt = this.ended + ms;
    const turn = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#schedule.add(this);
    await time.during(turn);
    this.#schedule.waiting.delete(this);
  }

  /** The call has a response. */
  answered(): void {
    if (this.#end()) this.#schedule.limiter.answered(this);
  }

  /** The call failed for good. */
  failed(): void {
    if (this.#end()) this.#schedule.limiter.ended(this.ended);
  }

  #end(): boolean {
    const wasInFlight = this.#isInFlight;
    this.#isInFlight = false;
    this.ended = this.#schedule.clock.now();
    if (wasInFlight) this.#schedule.inFlight -= 1;
    return wasInFlight;
  }
}

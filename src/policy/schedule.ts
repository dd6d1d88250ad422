// Runs many calls: one schedule decides when attempts of a run begin, and each call has a lane, its state in that run.
import type { Failure } from "../errors/failure.js";
import type { Transport } from "../transport/exchange.js";
import { after, type Deadline, now } from "../transport/time.js";
import { type Limiter, lowerToOpen, outOfFiles } from "./limiter.js";
import type { Pace } from "./rate.js";
import { type AttemptTimes, type Decision, decideRetry, type RetryState } from "./retry.js";

/** How many calls a run keeps for each slot of the limit: in flight, waiting for a retry, or with a result not taken. */
export const pendingForEach = 4;

/** The clock of a schedule: the machine's or a test's. */
export interface Clock {
  now(): number;
  /** Calls `run` after `ms` milliseconds. Returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

/** The run that a {@link Schedule} works for. A method, not a closure: V8 would compile each run's closure again. */
export interface ScheduledRun {
  /**
   * Called when new calls may begin: it begins calls while the schedule is open. It is also called when a call asks to
   * wait after the schedule was closed, as that call will never get its turn.
   */
  begin(now: number): void;
}

/** The machine's clock. Its timers can have any length, and never fire too early. */
export const machineClock: Clock = { now, after };

/**
 * Decides when attempts begin: one limit, one rate and one pause for all calls of a run. Calls that wait for a retry
 * come first, in the order in which they began to wait; then the run may begin new calls.
 */
export class Schedule {
  declare readonly limiter: Limiter;
  declare readonly clock: Clock;
  /** Keeps the rate that the caller declared, and counts what is sent. */
  declare readonly pace?: Pace | undefined;
  /** Whether a call is retried until its deadline, if the decision table allows a retry at all. */
  declare readonly untilDeadline: boolean;
  /** The longest pause that the service may ask for, in milliseconds. */
  declare readonly maxPauseMs?: number | undefined;
  /** How many attempts of this run are in flight. */
  inFlight = 0;
  /** The calls that wait for a retry. */
  readonly waiting: Set<Lane> = new Set();
  readonly #run: ScheduledRun;
  #isAdvancing = false;
  #isClosed: boolean;
  #unset: (() => void) | undefined;

  constructor(
    given: Pick<Schedule, "limiter" | "clock" | "pace" | "untilDeadline" | "maxPauseMs">,
    run: ScheduledRun,
  ) {
    // Copied one by one to fields of the class: V8 forgets the field types of a literal that each run evaluates anew.
    this.limiter = given.limiter;
    this.clock = given.clock;
    this.pace = given.pace;
    this.untilDeadline = given.untilDeadline;
    this.maxPauseMs = given.maxPauseMs;
    this.#run = run;
    // Assigned a second time on purpose: V8 takes a field assigned once as constant, and recompiles when it changes.
    this.#isClosed = false;
  }

  /** Whether an attempt may begin now. @param endsAt The deadline of its call, if it is a retry */
  isOpen(now: number, endsAt?: number): boolean {
    const { limiter, pace } = this;
    return !this.#isClosed && limiter.isOpen(now, endsAt) && !(pace && pace.opensAt > now);
  }

  /** Queues a call for its next attempt. */
  add(lane: Lane): void {
    this.waiting.add(lane);
    if (this.#isClosed) this.#run.begin(this.clock.now());
    else this.advance();
  }

  /** Begins all attempts that may begin now, in this run and in turn in the other runs that share its limiter. */
  advance(): void {
    const { sharers } = this.limiter;
    if (!this.#isClosed) sharers.add(this);
    // Nearly always one run has this limiter: then the set is not copied, which would cost as much as the turn itself.
    if (sharers.size === 1 && !this.#isClosed) this.takeTurn();
    else for (const sharer of [...sharers]) sharer.takeTurn();
  }

  takeTurn(): void {
    // An attempt may end as soon as it begins: this method is then called from within itself.
    if (this.#isAdvancing || this.#isClosed) return;
    this.#isAdvancing = true;
    const { sharers } = this.limiter;
    const { inFlight } = this;
    const now = this.clock.now();
    if (this.waiting.size > 0) this.#resume(now);
    if (this.isOpen(now)) this.#run.begin(now);
    this.#isAdvancing = false;
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

  /** Closes the schedule: no further attempt begins. */
  close(): void {
    this.#isClosed = true;
    this.#unset?.();
    const { sharers } = this.limiter;
    sharers.delete(this);
    this.limiter.isSpent = sharers.size === 0;
  }

  // Sets a timer for the earliest time at which another attempt may begin.
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
 * One call of a run. It decides about the call's retries, and the schedule decides when they begin; the first attempt
 * begins with the call. The retries cost nothing of the client's retry budget.
 */
export class Lane implements AttemptTimes {
  /** The call's options, if the run has checked them: the client then does not check them again. */
  declare options?: object | undefined;
  /** The bytes of the call's request; 0 if no token rate is declared. */
  readonly bytes: number;
  /** The estimated tokens of the last attempt. */
  estimated = 0;
  /** Whether the client accepted the call's options. */
  isAdmitted = false;
  /** When the next attempt may begin. */
  readyAt = 0;
  /** The call's deadline. */
  endsAt = 0;
  /** When the last attempt began and ended, and the limit's epoch when it began. */
  began = 0;
  ended = 0;
  epoch = 0;
  /** How long the last response may have waited for the event loop, in milliseconds. */
  busyMs = 0;
  /** Whether the last attempt lowered the limit, because this machine could open no more sockets. */
  isLowered = false;
  readonly #schedule: Schedule;
  // How many failed attempts ran the operation, so that each was paid for.
  #paid = 0;
  #isInFlight = false;
  #isAborted = false;
  #time: Pick<Deadline, "end"> | undefined;
  #resume: (() => void) | undefined;

  constructor(schedule: Schedule, bytes = 0) {
    this.#schedule = schedule;
    this.bytes = bytes;
  }

  /** Records that the call begins; `time.end` can end it. */
  begun(time: Pick<Deadline, "end">): void {
    this.#time = time;
    if (this.#isAborted) time.end("aborted");
  }

  /** Ends the call. A call that has not begun ends as soon as it begins. */
  abort(): void {
    this.#isAborted = true;
    this.#time?.end("aborted");
  }

  /** Records that an attempt begins. */
  begin(now: number): void {
    const schedule = this.#schedule;
    const { limiter, pace } = schedule;
    this.#isInFlight = true;
    this.began = now;
    this.epoch = limiter.begin();
    schedule.inFlight += 1;
    if (pace) this.estimated = pace.began(now, this.bytes);
    this.#resume?.();
  }

  /** Records that the client accepted the call. Its `maxConnections`, if known, caps the limit. */
  admitted({ maxConnections }: Pick<Transport, "maxConnections">): this {
    this.isAdmitted = true;
    if (maxConnections !== undefined) this.#schedule.limiter.cap(maxConnections);
    return this;
  }

  /** Decides whether a failed attempt is retried, and when. */
  decide(failure: Failure, state: RetryState): Decision {
    const { limiter } = this.#schedule;
    const decision = this.#decision(failure, state);
    this.#end();
    this.endsAt = this.ended + state.timeLeftMs;
    // This machine could open no more sockets: the failure says nothing about the service.
    const isOurs = failure.codeSource === "transport" && outOfFiles(failure.cause) !== undefined;
    if (isOurs) limiter.ended();
    else limiter.failed(failure, decision, this, state.random);
    this.isLowered = isOurs && lowerToOpen(limiter, this.epoch);
    return decision;
  }

  // Retries go on until the deadline. But each attempt that ran the operation was paid for: the decision table's
  // maximum of retries applies to such attempts, and counts no others.
  #decision(failure: Failure, state: RetryState): Decision {
    const { untilDeadline, maxPauseMs } = this.#schedule;
    if (!untilDeadline || failure.executed !== "yes")
      return decideRetry(failure, state, maxPauseMs, untilDeadline);
    const counted = { ...state, retries: this.#paid++, maxRetries: Number.POSITIVE_INFINITY };
    return decideRetry(failure, counted, maxPauseMs);
  }

  /** Waits until the next attempt begins, or until the call ends if that is sooner. */
  async wait(ms: number, time: Pick<Deadline, "untilEnded">): Promise<void> {
    // Counted from the attempt's end, like the pause that it caused: when that pause is over, this call is ready, and
    // comes before new calls.
    this.readyAt = this.ended + ms;
    const turn = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#schedule.add(this);
    try {
      await time.untilEnded(turn);
    } catch {
      // The call has ended, which its next attempt tells.
    }
    this.#schedule.waiting.delete(this);
  }

  /** Records that the call got its response. */
  responded(): void {
    if (this.#end()) this.#schedule.limiter.responded(this);
  }

  /** Records that the call failed and is not retried. */
  failed(): void {
    if (this.#end()) this.#schedule.limiter.ended();
  }

  #end(): boolean {
    const wasInFlight = this.#isInFlight;
    const schedule = this.#schedule;
    this.#isInFlight = false;
    this.ended = schedule.clock.now();
    this.busyMs = schedule.limiter.loop?.busyMs() ?? 0;
    if (wasInFlight) {
      schedule.inFlight -= 1;
      schedule.pace?.ended(this.estimated);
    }
    return wasInFlight;
  }
}

import type { Failure } from "../errors/failure.js";
import { type Decision, decideRetry, type RetryState } from "./retry.js";
import type { Schedule, Waiting } from "./schedule.js";
import type { AttemptPolicy, AttemptTimes, CallDeadline, Connections, PolicyOption } from "./types.js";

/** What the calls of a run have in common. */
export interface LaneOptions {
  readonly schedule: Schedule;
  /** Whether only the deadline of a call ends its retries, as far as the table allows them. */
  readonly untilDeadline: boolean;
  /** The longest that the service may ask them to wait, in milliseconds. */
  readonly maxHoldMs?: number;
  /** Called with each failed attempt, and what was decided. */
  noted?(lane: Lane, failure: Failure, decision: Decision): void;
}

/** How far a call of a run got: `made` is not yet admitted, `too-many` had no file or socket left on this machine. */
type Progress = "made" | "admitted" | "too-many";

/** One call of a run: its attempts begin when the schedule lets them. */
export class Lane implements AttemptPolicy, AttemptTimes, PolicyOption, Waiting {
  readonly #parts: LaneOptions;
  /** The size of its request; 0 where nobody counts tokens. */
  readonly bytes: number;
  /** The tokens that its last attempt is taken to need. */
  estimated = 0;
  /**
   * Where a call that is over got: the client could not make it, it could, or its first attempt was one too many for this
   * machine, so that it can be made again.
   */
  progress: Progress = "made";
  /** Milliseconds in which its last answer asks all calls to wait, where the run notes it; 0 for none. */
  holdMs = 0;
  readyAt = 0;
  endsAt = 0;
  /** When its last attempt began, and with which limit. */
  began = 0;
  epoch = 0;
  // Its attempts that ran and came to nothing: each was paid for.
  #paid = 0;
  #isBusy = false;
  #endedAt = 0;
  #resume: (() => void) | undefined;

  constructor(parts: LaneOptions, bytes: number) {
    this.#parts = parts;
    this.bytes = bytes;
  }

  get now(): number {
    return this.#parts.schedule.clock.now();
  }

  /** An attempt begins. */
  begin(now: number): void {
    const { schedule } = this.#parts;
    const { limiter, pace } = schedule;
    this.#isBusy = true;
    this.began = now;
    this.epoch = limiter.begin(now);
    schedule.inFlight += 1;
    if (pace) this.estimated = pace.began(now, this.bytes);
    this.#resume?.();
  }

  admitted({ maxConnections }: Connections): this {
    this.progress = "admitted";
    if (maxConnections !== undefined) this.#parts.schedule.limiter.cap(maxConnections);
    return this;
  }

  decide(failure: Failure, state: RetryState): Decision {
    const { schedule } = this.#parts;
    const decision = this.#decision(failure, state);
    this.#end();
    // Before the hold that the limiter sets now: when that is over, this call is the first.
    this.#endedAt = this.now;
    this.#parts.noted?.(this, failure, decision);
    this.endsAt = this.#endedAt + state.timeLeftMs;
    const wasTooMany = schedule.limiter.failed(failure, decision, this, state.random);
    // Its time begins with an attempt that can be made. Each time there are fewer at once, so this ends.
    if (wasTooMany && state.retries === 0) {
      this.progress = "too-many";
      return { waitMs: undefined, notRetried: "retries-used-up" };
    }
    return decision;
  }

  // Until the deadline, but for what was paid for: of that the table's number holds, whatever else was retried.
  #decision(failure: Failure, state: RetryState): Decision {
    const { untilDeadline, maxHoldMs } = this.#parts;
    if (!untilDeadline || failure.executed !== "yes")
      return decideRetry(failure, state, maxHoldMs, untilDeadline);
    const counted = { ...state, retries: this.#paid++, maxRetries: Number.POSITIVE_INFINITY };
    return decideRetry(failure, counted, maxHoldMs);
  }

  async wait(ms: number, time: CallDeadline): Promise<void> {
    const { schedule } = this.#parts;
    this.readyAt = this.#endedAt + ms;
    const turn = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    schedule.add(this);
    await time.during(turn);
    schedule.leave(this);
  }

  /** It was answered. */
  answered(): void {
    if (this.#end()) this.#parts.schedule.limiter.answered(this);
  }

  /** It failed for good. */
  failed(): void {
    if (this.#end()) this.#parts.schedule.limiter.ended(this.now);
  }

  #end(): boolean {
    const wasBusy = this.#isBusy;
    this.#isBusy = false;
    if (wasBusy) this.#parts.schedule.inFlight -= 1;
    return wasBusy;
  }
}

import type { Failure } from "../errors/failure.js";
import type { Transport } from "../transport/exchange.js";
import { after, type Deadline, now } from "../transport/time.js";
import { addTo, removeFrom } from "../values.js";
import { type Limiter, outOfFiles } from "./limiter.js";
import type { Pace } from "./rate.js";
import {
  type AttemptTimes,
  type Decision,
  decideRetry,
  nothingSent,
  type Ran,
  type RetryState,
  worse,
} from "./retry.js";

/** Whether the operation ran, for a request with a successful response. */
export const ranWell: Ran = { executed: "yes", executedBecause: "success-began" };

/** How many calls a run keeps for each slot of the limit: in flight, waiting for a retry, or with a result not taken. */
export const pendingForEach = 4;

/** The machine's clock; a simulation has its own. */
export const machineClock: { readonly now: typeof now; readonly after: typeof after } = { now, after };

/** Whose calls a {@link Run} makes. Methods, not closures: V8 would compile each run's again. */
export interface Work<Job, Value> {
  /** Takes the next job whose call may begin; undefined if there is none now. */
  take(): Job | undefined;
  /** The bytes of a job's request, by which its tokens are estimated. */
  bytesOf?(job: Job): number;
  /** Makes the call of a job. Its lane decides about its retries. */
  send(job: Job, lane: Lane): PromiseLike<Value>;
  /** Takes a call's value. Like `failed`, it says by `Run.done` when the job is done. */
  succeeded(job: Job, lane: Lane, value: Value): void;
  failed(job: Job, lane: Lane, error: unknown): void;
  /** Called after what may end the run, such as the end of a call. */
  settled(): void;
}

/**
 * One run of many calls. It decides when their attempts begin: one limit, one rate and one pause for all of them. Calls
 * that wait for a retry come first, in the order in which they began to wait; then new calls may begin.
 */
export class Run<Job = unknown, Value = unknown> {
  declare readonly limiter: Limiter;
  declare readonly clock: typeof machineClock;
  /** Keeps the rate that the caller declared, and counts what is sent. */
  declare readonly pace?: Pace | undefined;
  /** Whether a call is retried until its deadline, if the decision table allows a retry at all. */
  declare readonly untilDeadline: boolean;
  /** The longest pause that the service may ask for, in milliseconds. */
  declare readonly maxPauseMs?: number | undefined;
  /** The calls of jobs that are not done. */
  readonly lanes: Lane[] = [];
  /** How many attempts of this run are in flight, and how many were retries. */
  inFlight = 0;
  retries = 0;
  /** Whether any of its attempts ran the operation. */
  ran: Ran = nothingSent;
  /** The calls that wait for a retry. */
  readonly waiting: Set<Lane> = new Set();
  isClosed = false;
  readonly #work: Work<Job, Value>;
  #isAdvancing = false;
  #unset: (() => void) | undefined;

  constructor(
    given: Pick<Run, "limiter" | "clock" | "pace" | "untilDeadline" | "maxPauseMs">,
    work: Work<Job, Value>,
  ) {
    // Copied one by one to fields of the class: V8 forgets the field types of a literal that each run evaluates anew.
    this.limiter = given.limiter;
    this.clock = given.clock;
    this.pace = given.pace;
    this.untilDeadline = given.untilDeadline;
    this.maxPauseMs = given.maxPauseMs;
    this.#work = work;
  }

  /** Whether an attempt may begin now. @param endsAt The deadline of its call, if it is a retry */
  isOpen(now: number, endsAt?: number): boolean {
    const { limiter, pace } = this;
    return !this.isClosed && limiter.isOpen(now, endsAt) && !(pace && pace.opensAt > now);
  }

  /** Begins all attempts that may begin now, in this run and in turn in the other runs that share its limiter. */
  advance(): void {
    const { sharers } = this.limiter;
    if (!this.isClosed) sharers.add(this);
    // Nearly always one run has this limiter: then the set is not copied, which would cost as much as the turn itself.
    if (sharers.size === 1 && !this.isClosed) this.takeTurn();
    else for (const sharer of [...sharers]) sharer.takeTurn();
    this.#work.settled();
  }

  takeTurn(): void {
    // An attempt may end as soon as it begins: this method is then called from within itself.
    if (this.#isAdvancing || this.isClosed) return;
    this.#isAdvancing = true;
    const { sharers } = this.limiter;
    const { inFlight } = this;
    const now = this.clock.now();
    for (const lane of this.waiting) {
      if (lane.readyAt > now || !this.isOpen(now, lane.endsAt)) continue;
      this.waiting.delete(lane);
      lane.begin(now);
    }
    if (this.isOpen(now)) this.begin(now);
    this.#isAdvancing = false;
    if (sharers.size > 1 && this.inFlight > inFlight && sharers.delete(this)) sharers.add(this);
    this.#sleep(now);
  }

  /** Begins new calls while the run is open. A simulation replaces it. */
  begin(now: number): void {
    while (this.isOpen(now)) {
      const job = this.#work.take();
      if (job === undefined) break;
      this.#start(job, now);
    }
    this.#work.settled();
  }

  #start(job: Job, now: number): void {
    const work = this.#work;
    const lane = new Lane(this, this.pace?.countsTokens ? work.bytesOf?.(job) : 0);
    addTo(this.lanes, lane);
    lane.begin(now);
    work.send(job, lane).then(
      (value) => {
        lane.responded();
        work.succeeded(job, lane, value);
        this.advance();
      },
      (error: unknown) => {
        lane.failed();
        work.failed(job, lane, error);
        this.advance();
      },
    );
  }

  /** The job of a lane is done, or is left for another run. */
  done(lane: Lane): void {
    removeFrom(this.lanes, lane);
  }

  /** Begins no further attempt. Calls that wait for one end; those in flight go on. */
  close(): void {
    this.isClosed = true;
    this.#unset?.();
    const { sharers } = this.limiter;
    sharers.delete(this);
    this.limiter.isSpent = sharers.size === 0;
    for (const lane of this.waiting) lane.abort();
  }

  /** Ends all calls. */
  abort(): void {
    this.close();
    for (const lane of this.lanes) lane.abort();
  }

  // Sets a timer for the earliest time at which another attempt may begin.
  #sleep(now: number): void {
    this.#unset?.();
    if (this.isClosed) return;
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
 * One call of a run. It decides about the call's retries, and the run decides when they begin; the first attempt begins
 * with the call. The retries cost nothing of the client's retry budget.
 */
export class Lane implements AttemptTimes {
  /** The call's options, if the run has checked them: the client then does not check them again. */
  declare options?: object | undefined;
  /** The bytes of the call's request, 0 if no token rate is declared, and the estimated tokens of its last attempt. */
  readonly bytes: number;
  estimated = 0;
  /** Whether the client accepted the call's options. */
  isAdmitted = false;
  /** When the next attempt may begin, and the call's deadline. */
  readyAt = 0;
  endsAt = 0;
  /** When the last attempt began and ended, and the limit's epoch when it began. */
  began = 0;
  ended = 0;
  epoch = 0;
  /** Its place among the run's lanes. */
  at = 0;
  /** How many milliseconds the last response may have waited for the event loop, and asks the run to pause. */
  busyMs = 0;
  pauseMs = 0;
  /** Whether this machine could open no socket for the first attempt: the run makes a new call for the job. */
  isTooMany = false;
  /** The last failure after which the operation had run, and so was paid for. */
  paidFor: Failure | undefined;
  readonly #run: Omit<Run, "begin">;
  // How many failed attempts ran the operation, so that each was paid for.
  #paid = 0;
  #hasBegun = false;
  #isInFlight = false;
  #isAborted = false;
  #time: Pick<Deadline, "end"> | undefined;
  #resume: (() => void) | undefined;

  constructor(run: Omit<Run, "begin">, bytes = 0) {
    this.#run = run;
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
    const run = this.#run;
    const { limiter, pace } = run;
    if (this.#hasBegun) run.retries += 1;
    this.#hasBegun = true;
    this.#isInFlight = true;
    this.began = now;
    this.epoch = limiter.begin();
    run.inFlight += 1;
    if (pace) this.estimated = pace.began(now, this.bytes);
    this.#resume?.();
  }

  /** Records that the client accepted the call. Its `maxConnections`, if known, caps the limit. */
  admitted({ maxConnections }: Pick<Transport, "maxConnections">): this {
    this.isAdmitted = true;
    if (maxConnections !== undefined) this.#run.limiter.cap(maxConnections);
    return this;
  }

  /** Decides whether a failed attempt is retried, and when. */
  decide(failure: Failure, state: RetryState): Decision {
    const run = this.#run;
    const { limiter, untilDeadline, maxPauseMs } = run;
    // Retries go on until the deadline. But each attempt that ran the operation was paid for: the decision table's
    // maximum of retries applies to such attempts, and counts no others.
    const isPaid = untilDeadline && failure.executed === "yes";
    const paid = { ...state, retries: this.#paid, maxRetries: Number.POSITIVE_INFINITY };
    const decision = decideRetry(failure, isPaid ? paid : state, maxPauseMs, untilDeadline && !isPaid);
    if (isPaid) this.#paid += 1;
    this.#end();
    this.endsAt = this.ended + state.timeLeftMs;
    run.ran = worse(run.ran, failure);
    if (failure.executed === "yes") this.paidFor = failure;
    // This machine could open no more sockets: the failure says nothing about the service.
    const isOurs = failure.codeSource === "transport" && outOfFiles(failure.cause) !== undefined;
    if (isOurs) limiter.ended();
    this.pauseMs = isOurs ? 0 : limiter.failed(failure, decision, this, state.random);
    // The deadline of the new call starts anew. Each such failure lowers the limit, so the number of new calls is bounded.
    const isLowered = isOurs && limiter.lowerToOpen(this.epoch);
    this.isTooMany = isLowered && untilDeadline && state.retries === 0;
    if (!this.isTooMany) return decision;
    run.pace?.unsent();
    return { waitMs: undefined, notRetried: "retries-used-up" };
  }

  /** Waits until the next attempt begins, or until the call ends if that is sooner. */
  async wait(ms: number, time: Pick<Deadline, "untilEnded">): Promise<void> {
    // Counted from the attempt's end, like the pause that it caused: when that pause is over, this call is ready, and
    // comes before new calls.
    this.readyAt = this.ended + ms;
    const turn = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#run.waiting.add(this);
    if (this.#run.isClosed) this.abort();
    else this.#run.advance();
    try {
      await time.untilEnded(turn);
    } catch {
      // The call has ended, which its next attempt tells.
    }
    this.#run.waiting.delete(this);
  }

  /** Records that the call got its response. */
  responded(): void {
    const run = this.#run;
    run.ran = ranWell;
    if (this.#end()) run.limiter.responded(this);
  }

  /** Records that the call failed and is not retried. */
  failed(): void {
    if (this.#end()) this.#run.limiter.ended();
  }

  #end(): boolean {
    const wasInFlight = this.#isInFlight;
    const run = this.#run;
    this.#isInFlight = false;
    this.ended = run.clock.now();
    this.busyMs = run.limiter.loop?.busyMs() ?? 0;
    if (wasInFlight) {
      run.inFlight -= 1;
      run.pace?.ended(this.estimated);
    }
    return wasInFlight;
  }
}

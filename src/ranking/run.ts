import { endedFailure } from "../call/noResponse.js";
import { StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { Limiter } from "../policy/limiter.js";
import { Lane, machineClock, pendingForEach, Schedule } from "../policy/schedule.js";
import { Deadline, endOnAbort } from "../transport/time.js";
import { memberOf } from "../values.js";

/** The failure that ended the batches of a call. */
interface BatchFailure {
  readonly batch: number;
  readonly error: unknown;
}

/** How the batches of a call run. */
export interface BatchRun {
  readonly batches: number;
  /** How many batches may be in flight at once: a number, or what the limiter allows. */
  readonly concurrency: number | Limiter;
  /** The most batches under way, including those that wait for a retry. Ignored if `concurrency` is a number. */
  readonly most?: number;
  /** Whether a batch is retried until its deadline. */
  readonly untilDeadline: boolean;
  /** Milliseconds for all batches. */
  readonly timeoutMs: number;
  readonly signal: AbortSignalLike | undefined;
  /** When this signal aborts, no batch begins and none is retried, and those in flight finish. */
  readonly stop?: AbortSignalLike | undefined;
  /** The deadline of the whole call. */
  readonly deadline?: Deadline;
  run(batch: number, signal: AbortSignalLike, lane: Lane): Promise<void>;
}

/** Runs batches by number until one fails. Resolves to its failure, if any, once all running batches have ended. */
export function runBatches(given: BatchRun): Promise<BatchFailure | undefined> {
  return new Batches(given).ended;
}

class Batches {
  readonly ended: Promise<BatchFailure | undefined>;
  readonly #given: BatchRun;
  // The deadline of the whole call: no batch begins after it. A batch under way ends by its own deadline.
  readonly #deadline: Deadline;
  readonly #controller: AbortController = new AbortController();
  readonly #limiter: Limiter;
  readonly #schedule: Schedule;
  #resolve!: (failure: BatchFailure | undefined) => void;
  #next = 0;
  #underWay = 0;
  #failure: BatchFailure | undefined;
  #isStopped = false;
  readonly #ignoreStop: (() => void) | undefined;

  constructor(given: BatchRun) {
    this.#given = given;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { concurrency, untilDeadline, timeoutMs, signal, stop, deadline = new Deadline([]) } = given;
    const limiter = typeof concurrency === "number" ? new Limiter(concurrency) : concurrency;
    this.#limiter = limiter;
    this.#schedule = new Schedule({ limiter, clock: machineClock, untilDeadline }, this);
    this.#deadline = deadline;
    deadline.running = { abort: () => this.#onEnd() };
    deadline.limit({ timeoutMs, attemptTimeoutMs: timeoutMs }, signal);
    this.#ignoreStop = stop && endOnAbort(stop, { end: () => this.#stop() });
    this.#schedule.advance();
    this.#finish();
  }

  #onEnd(): void {
    const { signal } = this.#given;
    if (this.#deadline.ended === "aborted") this.#controller.abort(memberOf(signal, "reason"));
    this.#finish();
  }

  #stop(): void {
    this.#isStopped = true;
    this.#schedule.close();
    this.#endWaiting();
    this.#finish();
  }

  // A batch that waits for a retry would otherwise wait for a turn that never comes.
  #endWaiting(): void {
    for (const lane of this.#schedule.waiting) lane.abort();
  }

  begin(now: number): void {
    if (this.#isStopped) this.#endWaiting();
    const { batches } = this.#given;
    while (this.#next < batches && !this.#deadline.ended && this.#hasRoom && this.#schedule.isOpen(now))
      void this.#run(this.#next++, now);
  }

  get #hasRoom(): boolean {
    const { limit, search } = this.#limiter;
    if (search) return this.#underWay < Math.min(pendingForEach * limit, this.#given.most ?? limit);
    // A batch that waits for a retry counts as three: batches that begin in its place would be rejected at once, too.
    return this.#underWay + 2 * this.#schedule.waiting.size < limit;
  }

  async #run(batch: number, now: number): Promise<void> {
    const { run, batches } = this.#given;
    const lane = new Lane(this.#schedule);
    this.#underWay += 1;
    lane.begin(now);
    try {
      await run(batch, this.#controller.signal, lane);
      lane.responded();
    } catch (error) {
      lane.failed();
      this.#failure ??= { batch, error };
      if (!this.#isStopped) {
        // No further batch begins.
        this.#next = batches;
        this.#controller.abort();
      }
    }
    this.#underWay -= 1;
    this.#schedule.advance();
    this.#finish();
  }

  // Ends the run if no batch is running, and none is left to begin or the call has ended.
  #finish(): void {
    const { batches, timeoutMs, signal } = this.#given;
    const ended = this.#isStopped ? "aborted" : this.#deadline.ended;
    const isLeft = this.#next < batches;
    if (this.#underWay > 0 || (isLeft && ended === undefined)) return;
    if (isLeft && ended !== undefined) {
      const failure = endedFailure(ended, timeoutMs, undefined, memberOf(signal, "reason"));
      this.#failure = { batch: this.#next, error: new StatusError(failure.message, failure) };
    }
    this.#schedule.close();
    this.#deadline.dispose();
    this.#ignoreStop?.();
    this.#resolve(this.#failure);
  }
}

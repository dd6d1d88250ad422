import { endedFailure } from "../call/noResponse.js";
import { StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { Limiter } from "../policy/limiter.js";
import { type Lane, machineClock, pendingForEach, Run } from "../policy/run.js";
import { Deadline, endOnAbort } from "../transport/time.js";
import { memberOf } from "../values.js";

/** How the batches of a call run. */
export interface BatchRun {
  readonly batches: number;
  /** How many batches may be in flight at once: a number, or what the limiter allows. */
  readonly concurrency: number | Limiter;
  /** The most batches under way, including those that wait for a retry. Ignored if `concurrency` is a number. */
  readonly most?: number;
  /** Whether a batch is retried until its deadline. */
  readonly untilDeadline: boolean;
  /** Milliseconds for all batches: no batch begins after them. A batch under way ends by its own deadline and signal. */
  readonly timeoutMs: number;
  readonly signal: AbortSignalLike | undefined;
  /** When this signal aborts, no batch begins and none is retried, and those in flight finish. */
  readonly stop?: AbortSignalLike | undefined;
  /** The deadline of the whole call. */
  readonly deadline?: Deadline;
  run(batch: number, lane: Lane): Promise<void>;
}

/** Runs batches by number until one fails. Resolves to its failure, if any, once all running batches have ended. */
export async function runBatches(
  given: BatchRun,
): Promise<{ readonly batch: number; readonly error: unknown } | undefined> {
  const { batches, concurrency, most = Number.POSITIVE_INFINITY, untilDeadline, timeoutMs, signal } = given;
  const { stop, deadline = new Deadline([]) } = given;
  const limiter = typeof concurrency === "number" ? new Limiter(concurrency) : concurrency;
  const again: number[] = [];
  let next = 0;
  let failed: { batch: number; error: unknown } | undefined;
  let isStopped = false;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // The batch whose turn it is; undefined when none is left.
  const left = (): number | undefined => again[0] ?? (next < batches ? next : undefined);
  const work = {
    take(): number | undefined {
      const { lanes, waiting } = run;
      // With a fixed limit, a batch that waits for a retry counts as three: batches that begin in its place would be
      // rejected at once, too.
      const hasRoom = limiter.search
        ? lanes.length < Math.min(pendingForEach * limiter.limit, most)
        : lanes.length + 2 * waiting.size < limiter.limit;
      return hasRoom && !deadline.ended
        ? (again.shift() ?? (next < batches ? next++ : undefined))
        : undefined;
    },
    send: (batch: number, lane: Lane) => given.run(batch, lane),
    succeeded: (_: number, lane: Lane): void => run.done(lane),
    failed(batch: number, lane: Lane, error: unknown): void {
      run.done(lane);
      if (lane.isTooMany && !run.isClosed) again.push(batch);
      else {
        failed ??= { batch, error };
        if (!isStopped) run.abort();
      }
    },
    settled(): void {
      if (run.lanes.length === 0 && (run.isClosed || deadline.ended || left() === undefined)) end();
    },
  };
  const run: Run<number, void> = new Run({ limiter, clock: machineClock, untilDeadline }, work);
  deadline.running = { abort: () => work.settled() };
  deadline.limit({ timeoutMs, attemptTimeoutMs: timeoutMs }, signal);
  const ignoreStop =
    stop &&
    endOnAbort(stop, {
      end() {
        isStopped = true;
        run.close();
        work.settled();
      },
    });
  run.advance();
  await ended;
  const reason = isStopped ? "aborted" : deadline.ended;
  const batch = left();
  if (batch !== undefined && reason !== undefined && (isStopped || failed === undefined)) {
    const failure = endedFailure(reason, timeoutMs, undefined, memberOf(signal, "reason"));
    failed = { batch, error: new StatusError(failure.message, failure) };
  }
  run.close();
  deadline.dispose();
  ignoreStop?.();
  return failed;
}

/**
 * Workflows for Temporal, for the file that `workflowsPath` names. Needs the package `@temporalio/workflow`.
 *
 * @module tunerank/temporal/workflows
 */
import { ActivityCancellationType, continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { Activities, FleetRate } from "./temporalTypes.js";

/** What {@link rerankMany} is asked for. */
export interface RerankManyInput {
  /** How many chunks there are: they have the numbers from 0. */
  chunks: number;
  /** Handed to `readChunk`, `writePart` and `readParts`, such as the name of a list that never changes. */
  reference?: string | undefined;
  /** How many chunks are under way at once. @default 10 */
  concurrency?: number | undefined;
  /** What the service allows all workers together: each of the chunks at once has its share. @default no limit */
  rate?: FleetRate | undefined;
  /** The task queue of the activities. @default the workflow's */
  taskQueue?: string | undefined;
  /** Milliseconds for one chunk. @default 600,000 */
  startToCloseTimeoutMs?: number | undefined;
  /** Milliseconds after which a worker that says nothing is taken for dead. @default 30,000 */
  heartbeatTimeoutMs?: number | undefined;
  /** Continue as new after so many chunks, which bounds the history. @default 500 */
  chunksPerRun?: number | undefined;
  /** What the runs before this one did: the workflow passes it on itself. */
  done?: RerankManyResult | undefined;
}

/** What {@link rerankMany} came to. */
export interface RerankManyResult {
  /** The chunks that are written. */
  readonly chunks: number;
  /** The rankings that were answered. */
  readonly ranked: number;
  /** The rankings that failed: each is written with its error. */
  readonly failed: number;
}

/**
 * Ranks any number of chunks with the activity `rerankChunk`, some at once, and continues as new for long lists. What is
 * ranked is read and written by the workers: only the chunks' numbers and a reference pass through Temporal. Started
 * again, it skips what is written.
 *
 * @param input How many chunks there are, and how they are run.
 * @throws ActivityFailure when a chunk fails with what no repeat mends, such as a key that is refused; those under way end
 * first.
 * @example
 * export { rerankMany } from "tunerank/temporal/workflows";
 */
export async function rerankMany(input: RerankManyInput): Promise<RerankManyResult> {
  const { chunks, concurrency = 10, chunksPerRun = 500 } = input;
  const { rerankChunk } = activitiesFor(input);
  const total = { chunks: 0, ranked: 0, failed: 0, ...input.done };
  const first = total.chunks;
  const atOnce = Math.min(concurrency, chunks - first);
  const share = shareOf(input.rate, atOnce);
  let next = first;
  let hasFailed = false;
  const mayGoOn = (): boolean =>
    !hasFailed && next < chunks && next < first + chunksPerRun && !workflowInfo().continueAsNewSuggested;
  const work = async (): Promise<void> => {
    while (mayGoOn()) {
      const { ranked, failed } = await rerankChunk(next++, input.reference, share);
      total.chunks += 1;
      total.ranked += ranked;
      total.failed += failed;
    }
  };
  const lanes = Array.from({ length: atOnce }, () =>
    work().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  // A workflow that is over while its activities run could be started again beside them.
  for (const end of await Promise.allSettled(lanes)) if (end.status === "rejected") throw end.reason;
  if (next < chunks) await continueAsNew<typeof rerankMany>({ ...input, done: total });
  return total;
}

function shareOf(rate: FleetRate | undefined, chunksAtOnce: number): FleetRate | undefined {
  const share = (most: number | undefined) => most && most / chunksAtOnce;
  return (
    rate && { requestsPerMinute: share(rate.requestsPerMinute), tokensPerMinute: share(rate.tokensPerMinute) }
  );
}

function activitiesFor({
  taskQueue,
  startToCloseTimeoutMs = 600_000,
  heartbeatTimeoutMs = 30_000,
}: RerankManyInput): Pick<Activities, "rerankChunk"> {
  return proxyActivities<Activities>({
    startToCloseTimeout: startToCloseTimeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    // Each death of a worker counts as a failure: the default would soon wait 100 s after one.
    retry: { maximumInterval: 10_000 },
    // "Cancelled" is said once no request is under way.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    ...(taskQueue !== undefined && { taskQueue }),
  });
}

/**
 * Workflows for Temporal: export them from the file that the worker's `workflowsPath` names. Needs the package
 * `@temporalio/workflow`.
 *
 * @module tunerank/temporal/workflows
 */
import { ActivityCancellationType, continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { Activities, ChunkSummary, FleetRate } from "./temporalTypes.js";

/** The input of {@link rerankMany}. */
export interface RerankManyInput {
  /** The number of chunks. They are numbered from 0. */
  chunks: number;
  /** Passed to `readChunk`, `writePart` and `readParts`, such as the name of a list that never changes. */
  reference?: string | undefined;
  /** How many chunks are ranked at the same time. @default 10 */
  concurrency?: number | undefined;
  /**
   * The rate limit of all workers together. It is divided among the chunks ranked at the same time.
   * @default no limit
   */
  rate?: FleetRate | undefined;
  /** The task queue of the activities. @default the task queue of the workflow */
  taskQueue?: string | undefined;
  /** The longest time for one attempt at a chunk, in milliseconds. @default 600,000 */
  startToCloseTimeoutMs?: number | undefined;
  /** Milliseconds without a heartbeat after which Temporal takes a worker for dead. @default 30,000 */
  heartbeatTimeoutMs?: number | undefined;
  /** After how many chunks the workflow continues as new, which bounds its history. @default 500 */
  chunksPerRun?: number | undefined;
  /** The counts of earlier runs of this workflow. The workflow sets it when it continues as new; do not pass it. */
  done?: RerankManyResult | undefined;
}

/** The result of {@link rerankMany}. */
export interface RerankManyResult extends ChunkSummary {
  /** How many chunks are completely written. */
  readonly chunks: number;
}

/**
 * Workflow that ranks any number of chunks with the activity `rerankChunk`, several at the same time, and continues as
 * new for long lists. The workers read the requests and write the results: only chunk numbers and a reference pass
 * through Temporal. A workflow that is started a second time skips rows that are already written.
 *
 * @param input The number of chunks, and how to run them.
 * @throws ActivityFailure when a chunk fails with an error that no retry can correct, such as a rejected key. Chunks in
 * progress end first.
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
  // Wait for all chunks in progress: else the workflow could end and be started anew while its activities still run.
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
    // A worker that dies fails an attempt of its chunk. By default, the wait before the next attempt may grow to 100 s.
    retry: { maximumInterval: 10_000 },
    // The workflow reports its cancellation only after its activities have ended, and no request is in flight.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    ...(taskQueue !== undefined && { taskQueue }),
  });
}

/**
 * Workflows for Temporal, for the file that `workflowsPath` names. Needs the package `@temporalio/workflow`.
 *
 * @module tunerank/temporal/workflows
 */
import { continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { Activities } from "./temporalTypes.js";

/** What {@link rerankMany} is asked for. */
export interface RerankManyInput {
  /** How many chunks there are: they have the numbers from 0. */
  chunks: number;
  /** Handed to `readChunk` and `writeChunk`, such as the name of a list. */
  reference?: string | undefined;
  /** How many chunks are under way at once. @default 10 */
  concurrency?: number | undefined;
  /** The task queue of the activities, whose workers set the rate of the whole fleet. @default the workflow's */
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
  /** The rankings that the service refused: each has its error among the results. */
  readonly failed: number;
}

/**
 * Ranks any number of chunks with the activity `rerankChunk`, some at once, and continues as new for long lists. What is
 * ranked is read and written by the workers: only the chunks' numbers and a reference pass through Temporal. The rate
 * is the task queue's, `maxTaskQueueActivitiesPerSecond` of its workers, in chunks.
 *
 * @param input How many chunks there are, and how they are run.
 * @throws ActivityFailure when a chunk fails with what no repeat mends, such as a key that is refused.
 * @example
 * export { rerankMany } from "tunerank/temporal/workflows";
 */
export async function rerankMany(input: RerankManyInput): Promise<RerankManyResult> {
  const { chunks, concurrency = 10, chunksPerRun = 500 } = input;
  const { rerankChunk } = activitiesFor(input);
  const total = { chunks: 0, ranked: 0, failed: 0, ...input.done };
  const first = total.chunks;
  let next = first;
  const mayGoOn = (): boolean =>
    next < chunks && next < first + chunksPerRun && !workflowInfo().continueAsNewSuggested;
  const work = async (): Promise<void> => {
    while (mayGoOn()) {
      const { ranked, failed } = await rerankChunk(next++, input.reference);
      total.chunks += 1;
      total.ranked += ranked;
      total.failed += failed;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (next < chunks) await continueAsNew<typeof rerankMany>({ ...input, done: total });
  return total;
}

function activitiesFor({
  taskQueue,
  startToCloseTimeoutMs = 600_000,
  heartbeatTimeoutMs = 30_000,
}: RerankManyInput): Pick<Activities, "rerankChunk"> {
  return proxyActivities<Activities>({
    startToCloseTimeout: startToCloseTimeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    ...(taskQueue !== undefined && { taskQueue }),
  });
}

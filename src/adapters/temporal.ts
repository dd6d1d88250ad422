/**
 * Activities for Temporal. Needs the package `@temporalio/activity`, which comes with `@temporalio/worker`.
 *
 * @module tunerank/temporal
 */
import { ApplicationFailure, CancelledFailure, Context } from "@temporalio/activity";
import { rerankAll } from "../bulk/index.js";
import type { Client } from "../client.js";
import { isStatusError } from "../errors/statusError.js";
import type { OperationId } from "../generated/contract.js";
import { checkCallback, checkCount, checkDuration } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { checkRanking } from "../ranking/check.js";
import { concurrencyOf } from "../ranking/plan.js";
import { type CallAids, callWithin } from "./temporalCall.js";
import { type ChunkTools, rankChunk, withoutDocuments } from "./temporalChunk.js";
import { activityFailure, failureOptions, fitting, mostResultBytes } from "./temporalFailure.js";
import type { Activities, ActivitiesOptions, ActivityUploadOptions } from "./temporalTypes.js";

export type * from "./temporalTypes.js";

const names: OptionTable<ActivitiesOptions> = {
  readChunk: checkCallback,
  writePart: checkCallback,
  readParts: checkCallback,
  partRows: checkCount,
  concurrency: concurrencyOf,
  timeoutMs: checkDuration,
  openFile: checkCallback,
  maxResultBytes: checkCount,
};

/**
 * Creates activities that tell Temporal which failures to retry. A failed call throws an ApplicationFailure: its `type`
 * is the error's code, its one detail is a {@link CallFailure}, its `nextRetryDelay` is the service's Retry-After, and
 * it is `nonRetryable` unless `mayRetry` of `tunerank/queues` allows a retry. Temporal's default retry policy therefore
 * suits all of these activities.
 *
 * `resume` and `upload` are sent only once under any retry policy: after a worker died, the next attempt of the
 * activity sends nothing and fails with `executed: "unknown"`. Heartbeats report the progress, and a cancellation
 * aborts the call; with a `heartbeatTimeout` of a few seconds, dead workers and cancellations are noticed soon. A call
 * has the activity's `startToCloseTimeout` for its `timeoutMs`, less a tenth, at most 2 s.
 *
 * @param client A client that `createClient` made.
 * @param options The functions that read and write the chunks of a bulk ranking, and the one that opens files.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` when an option cannot be used.
 * @example
 * const worker = await Worker.create({ taskQueue: "tunerank", activities: createActivities(createClient()) });
 */
export function createActivities(
  client: Pick<Client, "rerank" | "deployments" | "reinforcementFineTuningJobs" | "datasets">,
  options: ActivitiesOptions = {},
): Activities {
  const { openFile, maxResultBytes = mostResultBytes, ...own } = ownProperties(options, "options", names);
  const run = async <T>(operation: OperationId, call: (aids: CallAids) => PromiseLike<T>): Promise<T> => {
    const context = Context.current();
    try {
      return fitting(await callWithin(context, operation, call), maxResultBytes, operation);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      // Temporal expects a CancelledFailure from an activity that it cancelled, and decides itself what follows.
      if (context.cancellationSignal.aborted && error.code === "CANCELLED")
        throw new CancelledFailure(error.message, [activityFailure(error)]);
      throw ApplicationFailure.create(failureOptions(error, context.info.attempt));
    }
  };
  // A run without requests only checks the client: a wrong one is reported here, not by the first chunk.
  rerankAll(client, []);
  const tools: ChunkTools = { ...own, client };
  return {
    rerank: (request) =>
      run("rerankDocuments", async (aids) => {
        const body = withoutDocuments(request);
        return checkRanking(body, await client.rerank(body, aids.ending()));
      }),
    rerankChunk: (n, reference, rate) =>
      run("rerankDocuments", (aids) => rankChunk(tools, { n, reference, rate }, aids)),
    scale: (deploymentId, replicaCount) =>
      run("scaleDeployment", (aids) => client.deployments.scale(deploymentId, replicaCount, aids.ending())),
    resume: (jobId) =>
      run("resumeReinforcementFineTuningJob", (aids) =>
        client.reinforcementFineTuningJobs.resume(jobId, aids.ending()),
      ),
    upload: (datasetId, file, uploadOptions) =>
      run("uploadDatasetFile", async (aids) => {
        const own = ownProperties(uploadOptions, "options", uploadNames);
        const opened = openFile ? await aids.time.untilEnded(Promise.resolve(openFile(file))) : file;
        const options = { ...own, ...aids.ending(), onProgress: aids.onProgress };
        return client.datasets.upload(datasetId, opened, options);
      }),
  };
}

const uploadNames: OptionTable<ActivityUploadOptions> = { name: 1, contentType: 1, verifyBytes: 1 };

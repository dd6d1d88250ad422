/**
 * Activities for Temporal. Needs the package `@temporalio/activity`, which comes with `@temporalio/worker`.
 *
 * @module tunerank/temporal
 */
import { ApplicationFailure, CancelledFailure, Context } from "@temporalio/activity";
import type { Client } from "../client.js";
import { isStatusError } from "../errors/statusError.js";
import type { UploadFile } from "../files/fileSource.js";
import type {
  DatasetFile,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
} from "../generated/types.js";
import { checkCallback, checkInteger, ownProperties } from "../options/arguments.js";
import type { Names } from "../options/names.js";
import { type ActivityCall, callWithin } from "./temporalCall.js";
import { type ChunkSummary, type ReadChunk, rankChunk, type WriteChunk } from "./temporalChunk.js";
import { callFailure, failureOptions } from "./temporalFailure.js";

export type { ChunkRequest, ChunkResult, ChunkSummary, ReadChunk, WriteChunk } from "./temporalChunk.js";
export type { CallFailure } from "./temporalFailure.js";

/** What an upload's activity may say of the file. */
export interface ActivityUploadOptions {
  /** The file's name; its base name is sent. @default the path's */
  name?: string | undefined;
  /** The media type of the part. @default application/octet-stream */
  contentType?: string | undefined;
  /** Compare the answer's `bytes` with what was sent, as the client's option does. @default false */
  verifyBytes?: boolean | undefined;
}

/** Options of {@link createActivities}. */
export interface ActivitiesOptions {
  /** Reads a chunk of a bulk ranking by its number. Needed by `rerankChunk`. */
  readChunk?: ReadChunk | undefined;
  /** Writes the results of a chunk, over those that were there. Needed by `rerankChunk`. */
  writeChunk?: WriteChunk | undefined;
  /** How many rankings of a chunk are under way at once: at least 1. @default 8 */
  concurrency?: number | undefined;
  /**
   * Opens the file that a workflow names, for files that are not on the worker's disk. @default the name is a path
   */
  openFile?: ((file: string) => UploadFile | Promise<UploadFile>) | undefined;
}

/** The activities: for a worker, and as the type parameter of `proxyActivities`. */
export interface Activities {
  /**
   * Ranks documents. Repeating it is safe, so a worker that dies costs a second request at most.
   *
   * @param request As the client's `rerank` takes it.
   */
  rerank(request: RerankRequest): Promise<RerankResponse>;
  /**
   * Ranks a chunk of many rankings: reads it with `readChunk`, and hands the results to `writeChunk`, all on the worker.
   *
   * @param n The chunk's number, from 0.
   * @param reference Handed to `readChunk` and `writeChunk`, such as the name of a list.
   */
  rerankChunk(n: number, reference?: string): Promise<ChunkSummary>;
  /**
   * Sets the number of replicas of a deployment; 0 stops it. Repeating it is safe.
   *
   * @param deploymentId The deployment's id alone.
   * @param replicaCount A whole number of at least 0.
   */
  scale(deploymentId: string, replicaCount: number): Promise<void>;
  /**
   * Resumes a job. It is sent once: a later attempt sends nothing, unless the one before recorded that it may.
   *
   * @param jobId The job's id alone.
   */
  resume(jobId: string): Promise<ReinforcementFineTuningJob>;
  /**
   * Uploads a file to a dataset. It is sent once: a later attempt sends nothing, unless the one before recorded that it
   * may.
   *
   * @param datasetId The dataset's id alone.
   * @param file A path on the worker, or what `openFile` knows.
   * @param options The file's name and media type.
   */
  upload(datasetId: string, file: string, options?: ActivityUploadOptions): Promise<DatasetFile>;
}

const names: Names<ActivitiesOptions> = { readChunk: 1, writeChunk: 1, concurrency: 1, openFile: 1 };

/**
 * Activities that know what may be repeated. A failed call is an ApplicationFailure: its `type` is the error's code, its
 * one detail a {@link CallFailure}, its `nextRetryDelay` the service's Retry-After, and it is `nonRetryable` unless
 * `mayRepeat` of `tunerank/queues` allows a repeat. So Temporal's default retry policy is right for all of them.
 *
 * `resume` and `upload` are sent once under any policy: after a worker died, the next attempt fails with
 * `executed: "unknown"` and sends nothing. Heartbeats carry the progress, and a cancellation aborts the call; a
 * `heartbeatTimeout` of some seconds makes both quick. A call ends before the activity's `startToCloseTimeout`.
 *
 * @param client The client that makes the calls.
 * @param options Where the chunks of a bulk ranking are read and written, and where files are.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` when an option cannot be used.
 * @example
 * const worker = await Worker.create({ taskQueue: "tunerank", activities: createActivities(createClient()) });
 */
export function createActivities(
  client: Pick<Client, "rerank" | "deployments" | "reinforcementFineTuningJobs" | "datasets">,
  options: ActivitiesOptions = {},
): Activities {
  const own = ownProperties(options, "options", names);
  const { concurrency = 8 } = own;
  const readChunk = checkCallback(own.readChunk, "readChunk");
  const writeChunk = checkCallback(own.writeChunk, "writeChunk");
  const openFile = checkCallback(own.openFile, "openFile");
  const tools = {
    client,
    readChunk,
    writeChunk,
    concurrency: checkInteger(concurrency, "concurrency", 1),
  };
  return {
    rerank: (request) => run("rerankDocuments", false, ({ signal }) => client.rerank(request, { signal })),
    rerankChunk: (n, reference) =>
      run("rerankDocuments", false, (aids) => rankChunk(tools, [n, reference], aids)),
    scale: (deploymentId, replicaCount) =>
      run("scaleDeployment", false, ({ signal }) =>
        client.deployments.scale(deploymentId, replicaCount, { signal }),
      ),
    resume: (jobId) =>
      run("resumeReinforcementFineTuningJob", true, ({ signal }) =>
        client.reinforcementFineTuningJobs.resume(jobId, { signal }),
      ),
    upload: (datasetId, file, uploadOptions) =>
      run("uploadDatasetFile", true, async ({ signal, onProgress, prepare }) => {
        const { name, contentType, verifyBytes } = ownProperties(uploadOptions, "options", uploadNames);
        const opened = openFile ? await prepare(() => openFile(file)) : file;
        return client.datasets.upload(datasetId, opened, {
          name,
          contentType,
          verifyBytes,
          signal,
          onProgress,
        });
      }),
  };
}

const uploadNames: Names<ActivityUploadOptions> = { name: 1, contentType: 1, verifyBytes: 1 };

async function run<T>(
  operation: ActivityCall<T>["operation"],
  once: boolean,
  call: ActivityCall<T>["call"],
): Promise<T> {
  const context = Context.current();
  try {
    return await callWithin(context, { operation, once, call });
  } catch (error) {
    if (!isStatusError(error)) throw error;
    // Temporal asks for this one where it cancelled; what it makes of it is its own to know.
    if (context.cancellationSignal.aborted && error.code === "CANCELLED")
      throw new CancelledFailure(error.message, [callFailure(error)]);
    throw ApplicationFailure.create(failureOptions(error));
  }
}

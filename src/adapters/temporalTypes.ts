import type { RerankAllOptions } from "../bulk/index.js";
import type { StatusError } from "../errors/statusError.js";
import type { UploadFile } from "../files/fileSource.js";
import type {
  DatasetFile,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
} from "../generated/types.js";
import type { UploadOptions } from "../wrappers/types.js";

/** A failed call as Temporal stores it: the fields of a StatusError, without an API key, body or cause. */
export interface CallFailure
  extends Pick<StatusError, "code" | "message" | "executed" | "executedBecause">,
    Pick<StatusError, "operation" | "notRetried" | "httpStatus" | "requestId" | "retryAfterMs" | "path"> {
  /** The number of HTTP requests (attempts) that the call made. */
  readonly requests: number;
}

/** One request of a chunk: a rerank request with an id that you choose. */
export interface ChunkRequest extends RerankRequest {
  /** Your id of the request, unique in its chunk. It is not sent. */
  id: string;
}

/** One result of a chunk: the response, or the error of the request. */
export type ChunkResult =
  | { readonly id: string; readonly response: RerankResponse; readonly error?: undefined }
  | { readonly id: string; readonly response?: undefined; readonly error: CallFailure };

/**
 * Reads the requests of a chunk. Undefined, or an error with the code `ENOENT`, means that the chunk does not exist,
 * which fails the workflow. After any other error Temporal retries.
 * @param n The number of the chunk, from 0.
 * @param reference The `reference` of the workflow's input.
 */
export type ReadChunk = (
  n: number,
  reference?: string,
) => readonly ChunkRequest[] | undefined | Promise<readonly ChunkRequest[] | undefined>;

/**
 * Writes a part of a chunk's results, whole or not at all. The rows count as done after the function has resolved.
 * @param part The unique name of the part: letters, digits and dashes.
 */
export type WritePart = (
  n: number,
  part: string,
  rows: readonly ChunkResult[],
  reference?: string,
) => unknown;

/**
 * Reads all parts of a chunk that were written, in any order; an empty list if there are none. Their rows are skipped.
 */
export type ReadParts = (
  n: number,
  reference?: string,
) => readonly (readonly ChunkResult[])[] | Promise<readonly (readonly ChunkResult[])[]>;

/** A rate limit: the option `rate` of `rerankAll`. */
export type FleetRate = NonNullable<RerankAllOptions["rate"]>;

/** The counts of a finished chunk. */
export interface ChunkSummary {
  /** How many requests have a ranking. */
  readonly ranked: number;
  /** How many requests failed. Each is written with its error. */
  readonly failed: number;
}

/** Options of the activity `upload`: how the file is named, typed and verified. */
export type ActivityUploadOptions = Pick<UploadOptions, "name" | "contentType" | "verifyBytes">;

/** Options of {@link createActivities}. */
export interface ActivitiesOptions {
  /** Reads a chunk of a bulk ranking by its number. Required by `rerankChunk`. */
  readChunk?: ReadChunk | undefined;
  /** Writes a part of a chunk's results. Required by `rerankChunk`. */
  writePart?: WritePart | undefined;
  /** Reads the results of a chunk that `writePart` has written before. Required by `rerankChunk`. */
  readParts?: ReadParts | undefined;
  /** Rows per part: at least 1. A worker that dies loses its requests in flight and at most one part. @default 50 */
  partRows?: number | undefined;
  /** How many requests of a chunk are in flight: the option `concurrency` of `rerankAll`. @default "auto" */
  concurrency?: RerankAllOptions["concurrency"];
  /** The deadline of one request in milliseconds, retries included. Greater than 0. @default 60,000 */
  timeoutMs?: number | undefined;
  /**
   * The largest result that an activity may return to Temporal, in bytes of JSON: at least 1. A larger result fails the
   * activity with a clear error, and is not retried. Set this option if your server's limit differs, or a codec
   * compresses.
   * @default 2,096,128, just below Temporal's 2 MB
   */
  maxResultBytes?: number | undefined;
  /**
   * Opens the file that a workflow names, for files that are not on the worker's disk. @default the name is a path
   */
  openFile?: ((file: string) => UploadFile | Promise<UploadFile>) | undefined;
}

/** The activities, to register with a worker, and the type parameter of `proxyActivities`. */
export interface Activities {
  /**
   * Ranks documents, and checks the ranking as `checkRanking` does. It is idempotent, so a worker that dies costs at
   * most one more request. The documents are returned only if `return_documents` is true.
   *
   * @param request The request of the client's `rerank`.
   */
  rerank(request: RerankRequest): Promise<RerankResponse>;
  /**
   * Ranks the rows of a chunk that `readParts` does not return, with `rerankAll`, and passes the results to
   * `writePart`. All of this happens on the worker.
   *
   * @param n The chunk's number, from 0.
   * @param reference Passed to `readChunk`, `writePart` and `readParts`, such as the name of a list.
   * @param rate The rate limit for this chunk: the option `rate` of `rerankAll`.
   */
  rerankChunk(n: number, reference?: string, rate?: FleetRate): Promise<ChunkSummary>;
  /**
   * Sets the number of replicas of a deployment; 0 stops the deployment. It is idempotent.
   *
   * @param deploymentId The deployment's id, without the rest of its resource name.
   * @param replicaCount A whole number of at least 0.
   */
  scale(deploymentId: string, replicaCount: number): Promise<void>;
  /**
   * Resumes a job. The request is sent once: a later attempt of the activity sends nothing, unless the attempt before
   * recorded that it may.
   *
   * @param jobId The job's id, without the rest of its resource name.
   */
  resume(jobId: string): Promise<ReinforcementFineTuningJob>;
  /**
   * Uploads a file to a dataset. The file is sent once: a later attempt of the activity sends nothing, unless the
   * attempt before recorded that it may.
   *
   * @param datasetId The dataset's id, without the rest of its resource name.
   * @param file A path on the worker, or a name that `openFile` opens.
   * @param options The file's name, its media type, and whether its size is verified.
   */
  upload(datasetId: string, file: string, options?: ActivityUploadOptions): Promise<DatasetFile>;
}

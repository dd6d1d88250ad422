import type { RerankAllOptions } from "../bulk/index.js";
import type { Executed, ExecutedBecause, NotRetried, OperationName, StatusCode } from "../errors/codes.js";
import type { UploadFile } from "../files/fileSource.js";
import type {
  DatasetFile,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
} from "../generated/types.js";

/** A failed call as it passes through Temporal: a StatusError's fields without its key, its body and its causes. */
export interface CallFailure {
  /** One of the 16 failure codes. */
  readonly code: StatusCode;
  /** What happened, and what to do now. */
  readonly message: string;
  /** Whether the operation ran: read this before repeating a call that changes state. */
  readonly executed: Executed;
  /** What `executed` is read from. */
  readonly executedBecause: ExecutedBecause;
  /** The operation's id in the contract; absent when the call named none. */
  readonly operation?: OperationName;
  /** Why the client made no other attempt. */
  readonly notRetried?: NotRetried;
  /** The answer's HTTP status; absent when there was no answer. */
  readonly httpStatus?: number;
  /** The answer's request id, when it had one. */
  readonly requestId?: string;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The path of the request, with its ids. */
  readonly path?: string;
  /** The HTTP requests that were made. */
  readonly requests: number;
}

/** One ranking of a chunk: a request with the caller's own id. */
export interface ChunkRequest extends RerankRequest {
  /** Whatever tells the ranking from all others; it is not sent. */
  id: string;
}

/** One result of a chunk: the answer, or why there is none. */
export type ChunkResult =
  | { readonly id: string; readonly response: RerankResponse; readonly error?: undefined }
  | { readonly id: string; readonly response?: undefined; readonly error: CallFailure };

/**
 * Reads a chunk; undefined, or an error with the code `ENOENT`, says that there is none, which ends the workflow. Any other
 * error is retried. @param n Its number, from 0. @param reference What the workflow was given to pass on.
 */
export type ReadChunk = (
  n: number,
  reference?: string,
) => readonly ChunkRequest[] | undefined | Promise<readonly ChunkRequest[] | undefined>;

/**
 * Writes a part of a chunk, whole or not at all: rows count once it has resolved. @param part Its name, which no other part
 * has: letters, digits and dashes.
 */
export type WritePart = (
  n: number,
  part: string,
  rows: readonly ChunkResult[],
  reference?: string,
) => unknown;

/** Reads the parts of a chunk that are written, in any order; an empty list where there is none. Their rows are skipped. */
export type ReadParts = (
  n: number,
  reference?: string,
) => readonly (readonly ChunkResult[])[] | Promise<readonly (readonly ChunkResult[])[]>;

/** What the service allows, as `rerankAll` takes it. */
export type FleetRate = NonNullable<RerankAllOptions["rate"]>;

/** How many rankings a chunk came to. */
export interface ChunkSummary {
  /** The rankings that were answered. */
  readonly ranked: number;
  /** Those that failed: each is written with its error. */
  readonly failed: number;
}

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
  /** Writes a part of a chunk's results. Needed by `rerankChunk`. */
  writePart?: WritePart | undefined;
  /** Reads the parts that are written. Needed by `rerankChunk`. */
  readParts?: ReadParts | undefined;
  /** The rows of a part: at least 1. A worker that dies loses those under way and one part at most. @default 50 */
  partRows?: number | undefined;
  /** How many rankings of a chunk are under way at once, as `rerankAll` takes it. @default "auto" */
  concurrency?: RerankAllOptions["concurrency"];
  /** Milliseconds for one ranking of a chunk, with its retries; then its row has an error. Greater than 0. @default 60,000 */
  timeoutMs?: number | undefined;
  /**
   * The most bytes of JSON that an activity may hand to Temporal: at least 1. A larger result fails for good, with words,
   * instead of again and again. Set it where your server's limit differs, or a codec compresses.
   * @default 2,096,128, of Temporal's 2 MB
   */
  maxResultBytes?: number | undefined;
  /**
   * Opens the file that a workflow names, for files that are not on the worker's disk. @default the name is a path
   */
  openFile?: ((file: string) => UploadFile | Promise<UploadFile>) | undefined;
}

/** The activities: for a worker, and as the type parameter of `proxyActivities`. */
export interface Activities {
  /**
   * Ranks documents, and checks the ranking as `checkRanking` does. Repeating it is safe, so a worker that dies costs a
   * second request at most. The documents are returned only where `return_documents` is true.
   *
   * @param request As the client's `rerank` takes it.
   */
  rerank(request: RerankRequest): Promise<RerankResponse>;
  /**
   * Ranks what `readParts` does not have of a chunk with `rerankAll`, and hands it to `writePart`, all on the worker.
   *
   * @param n The chunk's number, from 0.
   * @param reference Handed to `readChunk`, `writePart` and `readParts`, such as the name of a list.
   * @param rate What this chunk may spend, as `rerankAll` takes it.
   */
  rerankChunk(n: number, reference?: string, rate?: FleetRate): Promise<ChunkSummary>;
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

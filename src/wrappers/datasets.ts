import { loaded, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import { memberOf } from "../errors/memberOf.js";
import type { UploadFile } from "../files/fileSource.js";
import type { DatasetFile } from "../generated/types.js";
import { ownProperties } from "../options/arguments.js";
import type { CallOptions, CallPromise } from "../options/callOptions.js";

/** How far an upload got. */
export interface UploadProgress {
  /** Bytes of the file handed to the network. */
  readonly sentBytes: number;
  /** The file's size in bytes; undefined for a stream without `size`, until it has ended. */
  readonly totalBytes: number | undefined;
}

/** Options of {@link Datasets.upload}. */
export interface UploadOptions extends CallOptions {
  /** The file's name; its base name is sent. Needed for what has no name of its own, such as bytes. */
  name?: string | undefined;
  /**
   * The number of bytes a stream has: it is then sent with its length, and an error if it has more or fewer.
   * A stream must have at least one byte; an empty file is an empty path, Blob or Uint8Array.
   */
  size?: number | undefined;
  /**
   * The media type of the part. A Blob's own type that no header can carry is refused unless this is given.
   * @default the Blob's own type, else application/octet-stream
   */
  contentType?: string | undefined;
  /**
   * Called as the file is sent; the last call of a successful upload has `sentBytes` equal to `totalBytes`. It is not
   * waited for: what it throws is ignored, and so is the rejection of an async function. End an upload with `signal`.
   */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Compare the answer's `bytes` with what was sent, and fail with `DATA_LOSS` and `executed: "yes"` when they
   * differ. What `bytes` counts is not documented.
   * @default false
   */
  verifyBytes?: boolean | undefined;
}

/** Datasets of an account. The contract's `uploadDatasetFile`. */
export interface Datasets {
  /**
   * Uploads one file of up to 150 MB to a dataset in a single request. Its format is the service's to check.
   * After a failure whose `executed` is `"unknown"`, look at the dataset before repeating.
   *
   * @param datasetId The dataset's id alone, not its full resource name.
   * @param file A path or `file:` URL (Node), a Blob, a File, a Uint8Array, or a stream of bytes with `name`.
   * Through `fetch` a stream is read whole before it is sent. A stream is read once.
   * @param options The file's name and size where they are not known from `file`, and what any call may set.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `FAILED_PRECONDITION` when the source was read, ended, destroyed, locked or transferred before (nothing is sent
   * then), or when a file changes, a stream fails, ends without a byte or has not its `size` (the request is then
   * broken off before its end, so that nothing is stored); `INTERNAL` with `executed: "yes"` for an answer without an
   * `id`: the file may be stored.
   * @example await client.datasets.upload("reviews", "train.jsonl");
   */
  upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile>;
}

/** @internal Makes {@link Datasets} with a client's settings. */
export function createDatasets(client: LateSettings): Datasets {
  function upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile> {
    return startCall("uploadDatasetFile", async () => {
      handleErrors(file);
      // Copied: the caller's may change while the rest is loaded.
      const own = ownProperties(options, "options");
      const { uploadFile } = await loaded(import("./uploadFile.js"));
      return uploadFile(client, datasetId, file, own);
    });
  }
  return { upload };
}

// A Readable that fails before it is read would otherwise end the process; reading it reports the failure.
function handleErrors(file: unknown): void {
  const on = memberOf(file, "on");
  if (typeof on === "function") on.call(file, "error", () => {});
}

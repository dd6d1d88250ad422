import { openPath } from "#platform";
import { Unusable } from "../call/answer.js";
import { makeCall } from "../call/call.js";
import { type Outcome, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import { notify } from "../call/notify.js";
import { accountOf, callSettings } from "../call/settings.js";
import { memberOf } from "../errors/memberOf.js";
import { invalid, refusal } from "../errors/statusError.js";
import type { FileSource, UploadFile } from "../files/fileSource.js";
import { Multipart } from "../files/multipart.js";
import { handleErrors, openFile } from "../files/openFile.js";
import { requests } from "../generated/contract.js";
import type { DatasetFile } from "../generated/types.js";
import { checkCallback, checkFlag, checkId, isHeaderText, ownProperties } from "../options/arguments.js";
import type { Names } from "../options/names.js";
import { type CallOptions, type CallPromise, callOptionNames } from "../options/options.js";

const maxFileBytes = requests.uploadDatasetFile.body.properties.file["x-max-bytes"];

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

const uploadOptionNames: Names<UploadOptions> = {
  ...callOptionNames,
  name: 1,
  size: 1,
  contentType: 1,
  onProgress: 1,
  verifyBytes: 1,
};

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
   * broken off before its end, so that nothing is stored).
   * @example await client.datasets.upload("reviews", "train.jsonl");
   */
  upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile>;
}

/** @internal Makes {@link Datasets} with a client's settings. */
export function createDatasets(client: LateSettings): Datasets {
  function upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile> {
    return startCall("uploadDatasetFile", () => openAndSend(client, datasetId, file, options));
  }
  return { upload };
}

async function openAndSend(
  client: LateSettings,
  datasetId: string,
  file: UploadFile,
  options: UploadOptions | undefined,
): Promise<Outcome<DatasetFile>> {
  handleErrors(file);
  const own = ownProperties(options, "options", uploadOptionNames);
  const settings = callSettings(client, own, true);
  const path = { account_id: accountOf(settings), dataset_id: checkId(datasetId, "datasetId") };
  const contentType = checkContentType(own.contentType);
  const onProgress = checkCallback(own.onProgress, "onProgress");
  const verify = checkFlag(own.verifyBytes, "verifyBytes");
  const source = await openFile(file, own, openPath);
  try {
    const progress = progressOf(checkSize(source), onProgress);
    const type = contentType ?? checkOwnType(source.type);
    const part = { file: source, maxFileBytes, onSent: progress.onSent };
    const call = {
      operation: "uploadDatasetFile",
      path,
      body: new Multipart("file", type, part),
      describe: undefined,
      read: (value: object) => (verify ? verified(value, progress.sentBytes) : (value as DatasetFile)),
    } as const;
    return await makeCall(call, settings);
  } finally {
    await source.close().catch(() => {});
  }
}

interface Progress {
  /** Bytes of the file sent by the attempt under way. */
  sentBytes: number;
  readonly onSent: (sentBytes: number, done: boolean) => void;
}

function progressOf(size: number | undefined, onProgress: UploadOptions["onProgress"]): Progress {
  let reported = -1;
  const progress: Progress = {
    sentBytes: 0,
    onSent(sent, done) {
      progress.sentBytes = sent;
      // A retry begins anew; progress never goes back.
      if (sent < reported || (sent === reported && !done)) return;
      reported = sent;
      notify(onProgress, { sentBytes: sent, totalBytes: done ? sent : size });
    },
  };
  return progress;
}

function verified(value: object, sentBytes: number): DatasetFile | Unusable {
  const bytes = memberOf(value, "bytes");
  if (bytes === sentBytes) return value as DatasetFile;
  const stored = typeof bytes === "number" ? `${bytes} bytes` : "an unknown number";
  return new Unusable("DATA_LOSS", `The service stored ${stored} of the ${sentBytes} sent (verifyBytes).`);
}

function checkSize({ size }: FileSource): number | undefined {
  if (size === undefined || size <= maxFileBytes) return size;
  throw refusal(
    "OUT_OF_RANGE",
    `The file has ${size} bytes; one request takes at most ${maxFileBytes} (${maxFileBytes / 2 ** 20} MB).`,
    {
      hint: "Larger files use the service's separate upload-endpoint operation, which this client does not have.",
    },
  );
}

// The platform's own Blobs have a clean one, but it may be overridden.
function checkOwnType(type: unknown): string {
  if (typeof type === "string" && isHeaderText(type)) return type || "application/octet-stream";
  throw invalid("The Blob's own type is not text that a header can carry: pass {contentType}.");
}

function checkContentType(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && isHeaderText(value) && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.test(value))
    return value;
  throw invalid('contentType must be a media type such as "application/jsonl".');
}

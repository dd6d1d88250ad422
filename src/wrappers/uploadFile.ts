// Sends a file to a dataset. Loaded with the first upload.
import { disk } from "#platform";
import { incomplete, readObject, unusableResponse } from "../call/response.js";
import type { PreparedRequest } from "../call/types.js";
import { Failure } from "../errors/failure.js";
import { invalid, refusal } from "../errors/statusError.js";
import type { UploadFile } from "../files/fileSource.js";
import { filePartOf, Multipart } from "../files/multipart.js";
import { openFile } from "../files/openFile.js";
import { type OperationRow, operations, requests } from "../generated/contract.js";
import type { DatasetFile } from "../generated/types.js";
import { isHeaderText } from "../options/arguments.js";
import { memberOf, notify } from "../values.js";
import type { OperationArguments, UploadOptions } from "./types.js";

/**
 * Opens the file, and makes the request that sends it as the only part of a form.
 * @param own The call's options, copied and checked
 * @throws StatusError
 */
export async function prepareUpload(
  draft: PreparedRequest<DatasetFile>,
  { operation, body: file }: OperationArguments,
  own: UploadOptions,
): Promise<PreparedRequest<DatasetFile>> {
  const { name, maxFileBytes } = filePartOf(requests[operation]);
  const { contentType } = own;
  const isType =
    contentType === undefined ||
    (typeof contentType === "string" &&
      isHeaderText(contentType) &&
      /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.test(contentType));
  if (!isType) throw invalid("contentType", 'contentType must be a media type such as "application/jsonl".');
  const source = await openFile(file as UploadFile, own, disk);
  try {
    const { size = maxFileBytes } = source;
    if (size > maxFileBytes) {
      const most = `${maxFileBytes} (${maxFileBytes / 2 ** 20} MB)`;
      const text = `The file has ${size} bytes; one request takes at most ${most}.`;
      const hint =
        "Larger files need another operation of the service, which this client does not have: ask whoever runs it.";
      throw refusal("OUT_OF_RANGE", "file", text, { hint });
    }
    const progress = progressOf(source.size, own.onProgress);
    const type = contentType ?? checkOwnType(source.type);
    const part = { file: source, maxFileBytes, onSent: progress.onSent };
    const form = new Multipart(name, type, part);
    const read = readObject((value) => {
      const stored = operation === "uploadDatasetFile" ? readDatasetFile(value) : (value as DatasetFile);
      return own.verifyBytes ? verified(stored, progress.sentBytes) : stored;
    });
    // The operation's deadline, plus the time that the file takes at the slowest rate. A file of unknown size counts as
    // the largest one.
    const { timeoutMs: ownMs, bytesPerSecond = Number.POSITIVE_INFINITY }: OperationRow =
      operations[operation];
    const timeoutMs = ownMs + Math.ceil((size * 1000) / bytesPerSecond);
    return { ...draft, form, contentType: form.contentType, timeoutMs, read };
  } catch (error) {
    await source.close().catch(() => {});
    throw error;
  }
}

/** Returns an upload's response unchanged; a {@link Failure} if it lacks the file's id. Checks no other field. */
export function readDatasetFile(response: object): DatasetFile | Failure {
  return typeof memberOf(response, "id") === "string" ? (response as DatasetFile) : incomplete("id");
}

function progressOf(size: number | undefined, onProgress: UploadOptions["onProgress"]) {
  let reported = -1;
  const progress = {
    /** Bytes of the file sent by the attempt in flight. */
    sentBytes: 0,
    onSent(sent: number, done: boolean) {
      progress.sentBytes = sent;
      // A retry sends the file from its start, but the progress reported never goes back.
      if (sent < reported || (sent === reported && !done)) return;
      reported = sent;
      notify(onProgress, { sentBytes: sent, totalBytes: done ? sent : size });
    },
  };
  return progress;
}

function verified(stored: DatasetFile | Failure, sentBytes: number): DatasetFile | Failure {
  const bytes = memberOf(stored, "bytes");
  if (stored instanceof Failure || bytes === sentBytes) return stored;
  const size = typeof bytes === "number" ? `${bytes} bytes` : "an unknown number";
  const message = `The service counted ${size} of the ${sentBytes} sent (verifyBytes).`;
  return unusableResponse(message, { code: "DATA_LOSS" });
}

// Checks a Blob's own type: the platform's Blobs have a valid one, but a program may override it.
function checkOwnType(type: unknown): string {
  if (typeof type === "string" && isHeaderText(type)) return type || "application/octet-stream";
  throw invalid(
    "contentType",
    "The Blob's own type is not text that a header can carry: pass {contentType}.",
  );
}

import type { ClientConfig } from "../call/settings.js";
import type { UploadFile } from "../files/fileSource.js";
import type { DatasetFile } from "../generated/types.js";
import { ownProperties } from "../options/arguments.js";
import type { CallPromise } from "../options/types.js";
import { memberOf } from "../values.js";
import type { DatasetsOperations } from "./contractMethods.js";
import { loaded, startCall } from "./invoke.js";
import type { UploadOptions } from "./types.js";

/** Datasets of an account. The contract's `uploadDatasetFile`. */
export interface Datasets extends DatasetsOperations {
  /**
   * Uploads one file of up to 150 MB to a dataset in a single request. Its format is the service's to check.
   * After a failure whose `executed` is `"unknown"`, look at the dataset before repeating.
   *
   * @param datasetId The dataset's id alone, not its full resource name.
   * @param file A path or `file:` URL (Node, Bun, Deno), a Blob, a File, a Uint8Array, or a stream of bytes with `name`.
   * Through `fetch` a stream is read whole before it is sent. A stream is read once.
   * @param options The file's name and size where they are not known from `file`, and what any call may set.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `FAILED_PRECONDITION` when the source was read, ended, destroyed, locked or transferred before (nothing is sent
   * then), or when a file changes, a stream fails, ends without a byte or has not its `size` (the request is then
   * broken off before its end, so that nothing is stored); `INTERNAL` with `executed: "yes"` for a response without an
   * `id`: the file may be stored.
   * @example await client.datasets.upload("reviews", "train.jsonl");
   */
  upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile>;
}

/** @internal Makes {@link Datasets} with a client's settings. */
export function createDatasets(client: ClientConfig): Pick<Datasets, "upload"> {
  function upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile> {
    return startCall("uploadDatasetFile", client, async () => {
      handleErrors(file);
      // Copied: the caller's may change while the rest is loaded.
      const own = ownProperties(options, "options");
      const { uploadFile } = await loaded(import("./uploadFile.js"));
      const ids = { dataset_id: datasetId };
      return uploadFile(client, { operation: "uploadDatasetFile", ids, body: file }, own);
    });
  }
  return { upload };
}

// A Readable that fails before it is read would otherwise end the process; reading it reports the failure.
function handleErrors(file: unknown): void {
  const on = memberOf(file, "on");
  if (typeof on === "function") on.call(file, "error", () => {});
}

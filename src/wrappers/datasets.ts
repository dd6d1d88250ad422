import type { ClientConfig } from "../call/settings.js";
import type { UploadFile } from "../files/fileSource.js";
import type { DatasetFile } from "../generated/types.js";
import type { CallPromise } from "../options/types.js";
import { memberOf } from "../values.js";
import type { DatasetsOperations } from "./contractMethods.js";
import { startCall } from "./invoke.js";
import { callOperation } from "./operationMethods.js";
import type { UploadOptions } from "./types.js";

/** Datasets of an account. The contract's `uploadDatasetFile`. */
export interface Datasets extends DatasetsOperations {
  /**
   * Uploads one file of up to 150 MB to a dataset in a single request. The service does not document which formats it
   * accepts; this client does not check the format.
   * After a failure whose `executed` is `"unknown"`, check the dataset before you upload the file a second time.
   *
   * @param datasetId The dataset's id alone, not its full resource name.
   * @param file A path or `file:` URL (Node, Bun, Deno), a Blob, a File, a Uint8Array, or a stream of bytes with
   * the option `name`. With the option `fetch`, a stream is read whole before it is sent. A stream is read only once.
   * @param options The file's name and size if `file` does not tell them, and the options of any call.
   * @throws StatusError with any code of the service, and with these:
   *
   * - `INVALID_ARGUMENT` or `OUT_OF_RANGE`: an argument is invalid. Nothing was sent.
   * - `FAILED_PRECONDITION`: the source was already read, ended, destroyed, locked or transferred, and nothing was sent;
   *   or it changed, failed, ended without a byte or differs from its `size`, and the request was aborted before its end,
   *   so that nothing is stored.
   * - `INTERNAL` with `executed: "yes"`: the response has no `id`. The file may be stored.
   * @example await client.datasets.upload("reviews", "train.jsonl");
   */
  upload(datasetId: string, file: UploadFile, options?: UploadOptions): CallPromise<DatasetFile>;
}

/** @internal Makes {@link Datasets} with a client's settings. */
export function createDatasets(client: ClientConfig): Pick<Datasets, "upload"> {
  return {
    upload: (datasetId, file, options) =>
      startCall("uploadDatasetFile", client, () => {
        const on = memberOf(file, "on");
        // A Readable that fails before it is read would end the process. The upload reports the failure.
        if (typeof on === "function") on.call(file, "error", () => {});
        const input = { operation: "uploadDatasetFile", ids: { dataset_id: datasetId }, body: file } as const;
        return callOperation<DatasetFile>(client, input, options);
      }),
  };
}

import { makeCall } from "../call/call.js";
import type { ClientConfig } from "../call/settings.js";
import type { Outcome, PreparedRequest } from "../call/types.js";
import type { UploadFile } from "../files/fileSource.js";
import type { DatasetFile } from "../generated/types.js";
import { checkCallback, checkFlag } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallPromise } from "../options/types.js";
import type { OptionTable } from "../options/validate.js";
import { memberOf } from "../values.js";
import type { DatasetsOperations } from "./contractMethods.js";
import { loaded, prepare, startCall } from "./invoke.js";
import type { OperationArguments, UploadOptions } from "./types.js";

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

const uploadOptionTable: OptionTable<UploadOptions> = {
  ...callOptionTable,
  name: 1,
  size: 1,
  contentType: 1,
  onProgress: checkCallback,
  verifyBytes: checkFlag,
};

/** @internal Makes a call that sends a file. */
export function makeUpload<T>(
  client: ClientConfig,
  input: OperationArguments,
  options: UploadOptions | undefined,
): Promise<Outcome<T>> {
  return makeCall(client, input.operation, { options, table: uploadOptionTable }, (settings, own) => {
    const draft = prepare<DatasetFile>(settings, input.operation, {
      ids: input.ids,
      body: undefined,
      read: undefined,
    });
    const whole = loaded(import("./uploadFile.js")).then((late) => late.prepareUpload(draft, input, own));
    return { ...draft, whole } as PreparedRequest<never>;
  });
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
        return makeUpload<DatasetFile>(client, input, options);
      }),
  };
}

import type { DatasetFile } from "../generated/types.js";

/**
 * The former name of what an upload answers.
 *
 * @deprecated Write `DatasetFile`. This name goes with the next minor version.
 */
export type UploadDatasetFileResponse = DatasetFile;

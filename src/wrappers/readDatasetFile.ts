import { incomplete, type Unusable } from "../call/answer.js";
import type { DatasetFile } from "../generated/types.js";
import { memberOf } from "../values.js";

/** An upload's answer as it came; {@link Unusable} without the id of the stored file. Whatever else it holds passes. */
export function readDatasetFile(answer: object): DatasetFile | Unusable {
  return typeof memberOf(answer, "id") === "string" ? (answer as DatasetFile) : incomplete("id");
}

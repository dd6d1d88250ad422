import type { DatasetFile } from "../../generated/types.js";
import type { TestFile } from "../types.js";
import type { RunOperation } from "./operation.js";

/** Adds the file's facts to the dataset; its content is not kept. */
export const upload: RunOperation = ({ state, id, file }): DatasetFile => {
  const dataset = state.dataset(id("account_id"), id("dataset_id"));
  const stored = { id: state.nextFileId(), ...(file as TestFile) };
  state.addFile(dataset, stored);
  return {
    id: stored.id,
    object: "file",
    bytes: stored.bytes,
    created_at: Math.floor(Date.now() / 1000),
    filename: stored.filename,
    purpose: "fine-tune",
  };
};

import { SourceError } from "./sourceError.js";

/** The error of a source that cannot be read from the beginning. */
export function unusable(what: string, cause?: unknown): SourceError {
  const hint = "Make a new stream or array of the same content for each call, or pass a path or a Blob.";
  return new SourceError("FAILED_PRECONDITION", `file is ${what}.`, hint, cause);
}

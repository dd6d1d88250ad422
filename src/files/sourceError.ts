import type { StatusCode } from "../errors/codes.js";

/** A file that cannot be sent: it changed, or cannot be read from the beginning. */
export class SourceError extends Error {
  declare readonly code: StatusCode;
  /** What to do now, instead of the code's own hint. */
  declare readonly hint: string | undefined;

  constructor(code: StatusCode, message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** The error of a source that cannot be read from the beginning. */
export function unusable(what: string, cause?: unknown): SourceError {
  const hint = "Make a new stream or array of the same content for each call, or pass a path or a Blob.";
  return new SourceError("FAILED_PRECONDITION", `file is ${what}.`, hint, cause);
}

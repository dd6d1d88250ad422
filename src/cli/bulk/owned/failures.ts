import { reasonOf, UsageError } from "../../context.js";

// What another file, folder or user would mend. All else, such as a full disk, is this machine's.
const refused: ReadonlySet<string | undefined> = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "ENAMETOOLONG",
  "ELOOP",
  "EBUSY",
]);

/** Why a run does not begin to write a file. @param option What the command line calls it */
export function notBegun(option: string, error: unknown): Error {
  if (error instanceof UsageError) return error;
  const failure = error as NodeJS.ErrnoException;
  if (failure.code === undefined || failure.name === "AbortError") return failure;
  const message = `${option} cannot be written: ${reasonOf(failure)}. Nothing was sent.`;
  return refused.has(failure.code) ? new UsageError(message) : new Error(message, { cause: error });
}

/** Why a run stops to write a file. */
export function notWritten(option: string, error: unknown): Error {
  const reason = reasonOf(error as NodeJS.ErrnoException);
  return new Error(
    `${option} cannot be written: ${reason}. What was written is kept: run the same command again when that is mended.`,
    { cause: error },
  );
}

import type { RerankAllResult } from "../../bulk/index.js";
import type { StatusError } from "../../index.js";
import type { RowWriter } from "../checkpoints/rowWriter.js";
import type { Report } from "./bulkReport.js";
import type { BadLine, BulkRequest } from "./bulkRequest.js";

/** Where the rows of a run go. */
export interface OutputFiles {
  readonly output: RowWriter;
  readonly errors: RowWriter | undefined;
}

/** Writes the row of a result. @returns the code of an error that runs again on the next start */
export function addResult(
  { id: { id, fingerprint, line }, response, error }: RerankAllResult<BulkRequest>,
  files: OutputFiles,
  report: Report,
): void {
  if (error === undefined) {
    files.output.add({ id, fingerprint, response });
    report.counts.ranked += 1;
    return;
  }
  const final = isFinal(error);
  const row = { id, fingerprint, error: errorFields(error), final, ...(files.errors && { line }) };
  // Without a file for errors, the output has those that do not run again.
  if (files.errors) files.errors.add(row);
  else if (final) files.output.add(row);
  if (final) report.counts.wrong += 1;
  else report.counts.failed += 1;
  if (files.errors === undefined) report.note(`Line ${line}: ${error.message}`);
}

/** Tells of a line that is no request. */
export function addBadLine({ line, problem }: BadLine, files: OutputFiles, report: Report): void {
  report.counts.badLines += 1;
  report.note(`Line ${line} is left out. ${problem}`);
  files.errors?.add({ line, error: { code: "INVALID_ARGUMENT", message: problem } });
}

/** Writes the row of a request whose id was there before, in a pipe. */
export function addDuplicate(
  { id, fingerprint, line }: BulkRequest,
  files: OutputFiles,
  report: Report,
): void {
  report.counts.wrong += 1;
  const message = "An earlier line has this id.";
  report.note(`Line ${line} is left out. ${message}`);
  const error = { code: "INVALID_ARGUMENT", message, executed: "no" };
  (files.errors ?? files.output).add({ id, fingerprint, error, final: true, line });
}

/**
 * Whether an error is a request's last word: the request itself is wrong, and wrong it stays. Everything else runs again
 * on the next start: what was transient, and what is not the request's fault, such as an account's state or a web page in
 * the place of an answer.
 */
export function isFinal({ code, codeSource }: StatusError): boolean {
  if (code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE") return true;
  // Without a name in its body, a 404 may be that of a wrong address.
  return code === "NOT_FOUND" && codeSource === "body";
}

/** What a file keeps of an error. */
export function errorFields({
  code,
  message,
  executed,
  httpStatus,
  requestId,
  attempts,
}: StatusError): Record<string, unknown> {
  return { code, message, executed, httpStatus, requestId, attempts: attempts.length };
}

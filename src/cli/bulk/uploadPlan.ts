// The plan of several uploads: each file with its row in the checkpoint, before anything is sent.
import { createHash } from "node:crypto";
import { createReadStream, existsSync, realpathSync, statSync } from "node:fs";
import { checkFileName } from "../../engine.js";
import { fileVersion } from "../check/beforeUpload.js";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import type { Row } from "../checkpoints/readRows.js";
import { cannotRead, namingFile, UsageError } from "../context.js";
import { fingerprintOf } from "./bulkRequest.js";

/** A file that `upload` is given, and what is known of it before anything is sent. */
export interface PlannedFile {
  /** The file's name, as given on the command line. */
  readonly file: string;
  /** The file's name as the service gets it, without its folder. */
  readonly sentName: string;
  readonly bytes: number;
  /** The file's identity, size and time of change before its content was hashed and checked. */
  readonly state: string | undefined;
  /** The dataset and the file's absolute path, as JSON. */
  readonly id: string;
  /** A hash of the id and of the file's content. */
  readonly fingerprint: string;
  /** The last row of the file in the checkpoint, if an earlier run wrote one. */
  readonly before: Row | undefined;
}

/**
 * What a file's last row in the checkpoint means. It may be stored (`unknown`) if its upload has no recorded outcome,
 * or failed after it was sent, or if the response has no id, as earlier versions recorded it.
 */
export function uploadStateOf(row: Row | undefined): "stored" | "unknown" | "not" {
  if (row === undefined) return "not";
  const stored = row.response as { id?: unknown } | undefined;
  if (typeof stored?.id === "string") return "stored";
  const error = row.error as { executed?: unknown } | undefined;
  return error?.executed === "no" ? "not" : "unknown";
}

/** Reads the last row of each file from the checkpoint. @throws UsageError for a line that is no row */
export async function readUploads(checkpoint: CheckpointFile | undefined): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  await checkpoint?.read((_line, row) => rows.set(`${row.id}`, row));
  return rows;
}

/** Reads all files before anything is sent. @throws UsageError for a file that cannot be sent */
export async function planUploads(
  files: readonly string[],
  dataset: string,
  rows: ReadonlyMap<string, Row>,
  signal: AbortSignal,
): Promise<readonly PlannedFile[]> {
  const planned: PlannedFile[] = [];
  const found = new Set<string>();
  for (const file of files) {
    const whole = resolve(file);
    const shown = namingFile("FILE", file);
    if (found.has(whole)) throw new UsageError(`${shown} is named twice. Nothing was sent.`);
    found.add(whole);
    const id = JSON.stringify([dataset, whole]);
    const state = fileVersion(file);
    const fingerprint = fingerprintOf([id, await hashOf(file, signal)]);
    const before = rows.get(id);
    if (uploadStateOf(before) === "stored" && before?.fingerprint !== fingerprint)
      throw new UsageError(
        `${shown} has changed since it was uploaded: name another --checkpoint to upload it again. Nothing was sent.`,
      );
    const sentName = checkFileName(file, shown);
    planned.push({ file, sentName, bytes: statSync(whole).size, state, id, fingerprint, before });
  }
  return planned;
}

/**
 * Rejects two files that would be sent under the same name. A warning is not enough: it is not documented what a
 * dataset does with a second file of the same name, and nobody would find a replaced file in a log of thousands.
 * @throws UsageError
 */
export function refuseSameNames(planned: readonly PlannedFile[], wanted: readonly PlannedFile[]): void {
  const sent = new Set(wanted.map(({ sentName }) => sentName));
  const first = new Map<string, string>();
  for (const { file, sentName } of planned) {
    const other = first.get(sentName);
    // Two files of one name conflict only if one of them is sent now: an earlier run may have sent both.
    if (other !== undefined && sent.has(sentName))
      throw new UsageError(
        `${other} and ${file} would both arrive as "${sentName}", and the second may replace the first: rename one, or upload it alone with --name. Nothing was sent.`,
      );
    first.set(sentName, file);
  }
}

function resolve(file: string): string {
  if (file === "-")
    throw new UsageError("The standard input can be uploaded only alone, without --checkpoint.");
  const name = namingFile("FILE", file);
  if (!existsSync(file)) throw new UsageError(`${name} cannot be found: nothing was sent.`);
  if (statSync(file).isDirectory())
    throw new UsageError(`${name} is a folder: name the files in it. Nothing was sent.`);
  if (!statSync(file).isFile()) throw new UsageError(`${name} is not a file: nothing was sent.`);
  return realpathSync(file);
}

async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file, { signal, highWaterMark: 1024 * 1024 }))
      hash.update(chunk);
  } catch (error) {
    throw cannotRead(namingFile("FILE", file), error, " Nothing was sent.");
  }
  return hash.digest("hex");
}

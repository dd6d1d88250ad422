import { createHash } from "node:crypto";
import { createReadStream, existsSync, realpathSync, statSync } from "node:fs";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import type { Row } from "../checkpoints/readRows.js";
import { UsageError, unreadable } from "../context.js";
import { fingerprintOf } from "./bulkRequest.js";

export interface PlannedFile {
  /** As the command line names it. */
  readonly file: string;
  readonly bytes: number;
  /** The dataset and the file's whole path, as JSON. */
  readonly id: string;
  /** Stands for them and the file's content. */
  readonly fingerprint: string;
  /** What an earlier run left of it. */
  readonly before: Row | undefined;
}

/**
 * What an earlier run knows: a file that was being sent, or whose upload failed after it was, may be stored; so may one
 * whose answer has no id, as earlier versions kept it.
 */
export function uploadStateOf(row: Row | undefined): "stored" | "unknown" | "not" {
  if (row === undefined) return "not";
  const stored = row.response as { id?: unknown } | undefined;
  if (typeof stored?.id === "string") return "stored";
  const error = row.error as { executed?: unknown } | undefined;
  return error?.executed === "no" ? "not" : "unknown";
}

/** Reads the last row of each file. @throws UsageError for a line that is no row */
export async function readUploads(checkpoint: CheckpointFile | undefined): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  await checkpoint?.read((_line, row) => rows.set(`${row.id}`, row));
  return rows;
}

/** Reads the files, before anything is sent. @throws UsageError for one that cannot be sent */
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
    if (found.has(whole)) throw new UsageError("A FILE may be named only once. Nothing was sent.");
    found.add(whole);
    const id = JSON.stringify([dataset, whole]);
    const fingerprint = fingerprintOf([id, await hashOf(file, signal)]);
    const before = rows.get(id);
    if (uploadStateOf(before) === "stored" && before?.fingerprint !== fingerprint)
      throw new UsageError(
        `FILE ${planned.length + 1} has changed since it was uploaded: name another --checkpoint to upload it again. Nothing was sent.`,
      );
    planned.push({ file, bytes: statSync(whole).size, id, fingerprint, before });
  }
  return planned;
}

function resolve(file: string): string {
  if (file === "-")
    throw new UsageError("The standard input can be uploaded only alone, without --checkpoint.");
  if (!existsSync(file)) throw new UsageError("A FILE cannot be found: nothing was sent.");
  if (statSync(file).isDirectory())
    throw new UsageError("A FILE is a folder: name the files in it. Nothing was sent.");
  if (!statSync(file).isFile()) throw new UsageError("A FILE is not a file: nothing was sent.");
  return realpathSync(file);
}

async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file, { signal, highWaterMark: 1024 * 1024 }))
      hash.update(chunk);
  } catch (error) {
    throw unreadable("A FILE", error, " Nothing was sent.");
  }
  return hash.digest("hex");
}

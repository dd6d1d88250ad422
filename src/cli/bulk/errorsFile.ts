import { renameSync } from "node:fs";
import type { BulkRequest } from "./bulkRequest.js";
import { readRows } from "./checkpoint.js";
import { RowFile } from "./rowFile.js";

/** What an errors file holds of earlier runs: by the id's JSON, the fingerprints of requests that are wrong. */
export type WrongRequests = Map<string, string>;

/** Reads which requests are wrong. @throws UsageError when it is no file of this command */
export async function readWrong(path: string | undefined): Promise<WrongRequests> {
  const wrong: WrongRequests = new Map();
  if (path === undefined) return wrong;
  await readRows(path, "--errors", (_line, { id, fingerprint, final }) => {
    if (final === true) wrong.set(JSON.stringify(id), fingerprint);
  });
  return wrong;
}

/** Whether a request was found to be wrong; one that was mended since is not known any more. */
export function isKnownWrong(wrong: WrongRequests, { key, fingerprint }: BulkRequest): boolean {
  const known = wrong.get(key);
  if (known !== undefined && known !== fingerprint) wrong.delete(key);
  return known === fingerprint;
}

/** Writes the file anew, with the rows that still hold: all others run again. */
export async function openErrors(path: string, wrong: WrongRequests): Promise<RowFile> {
  const temporary = `${path}.${process.pid}.tmp`;
  const rows = new RowFile("--errors", temporary, { end: 0, lacksEnd: false });
  const written = new Set<string>();
  await readRows(path, "--errors", (_line, row) => {
    const key = JSON.stringify(row.id);
    if (row.final !== true || wrong.get(key) !== row.fingerprint || written.has(key)) return;
    written.add(key);
    rows.add(row);
  });
  // The file stays open under its new name.
  renameSync(temporary, path);
  return rows;
}

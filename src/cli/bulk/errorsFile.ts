import type { BulkRequest } from "./bulkRequest.js";
import type { OwnedFile } from "./owned/ownedFile.js";
import type { RowFile } from "./owned/rowFile.js";

/** What an errors file holds of earlier runs: by the id's JSON, the fingerprints of requests that are wrong. */
export type WrongRequests = Map<string, string>;

/** Reads which requests are wrong. @throws UsageError for a line that is no row */
export async function readWrong(file: OwnedFile | undefined): Promise<WrongRequests> {
  const wrong: WrongRequests = new Map();
  await file?.read((_line, { id, fingerprint, final }) => {
    if (final === true) wrong.set(JSON.stringify(id), fingerprint);
  });
  return wrong;
}

/** Whether a request was found to be wrong; one that was mended since is not known any more. */
export function isKnownWrong(wrong: WrongRequests, request: BulkRequest): boolean {
  const known = wrong.get(request.key);
  if (known === undefined || known === request.fingerprint) return known !== undefined;
  wrong.delete(request.key);
  return false;
}

/** Writes the file anew, with the rows that still hold: all others run again. */
export async function openErrors(file: OwnedFile, wrong: WrongRequests): Promise<RowFile> {
  const written = new Set<string>();
  return file.rewrite((rows) =>
    file.read((_line, row) => {
      const key = JSON.stringify(row.id);
      if (row.final !== true || wrong.get(key) !== row.fingerprint || written.has(key)) return;
      written.add(key);
      rows.add(row);
    }),
  );
}

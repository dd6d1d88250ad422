import { invalid } from "../errors/statusError.js";
import { memberOf } from "../values.js";
import type { FileSource } from "./fileSource.js";
import { FormStream } from "./formStream.js";
import { fromStream } from "./streamSource.js";

/**
 * The source of a Blob whose bytes may be on disk, as those of Bun.file are.
 * @param size The size that the caller gave. @throws StatusError when it cannot be read
 */
export async function openBlob(
  blob: Blob,
  source: FileSource,
  size: number | undefined,
): Promise<FileSource> {
  // Bun tells no size of a pipe (Bun.stdin) or of what is stored elsewhere.
  if (!Number.isFinite(blob.size)) return fromStream(blob.stream(), source.name, size);
  // Bun.file of what is not there has size 0, too.
  if (blob.size === 0) await blob.arrayBuffer().catch(refuseToRead);
  return isLeftOut(blob) ? { ...source, streamed: (form) => new FormStream(form) } : source;
}

function refuseToRead(cause: unknown): never {
  throw invalid(`file cannot be read: ${memberOf(cause, "message")}.`, { cause });
}

// Bun makes a Blob of several parts without those that are on disk.
function isLeftOut(blob: Blob): boolean {
  return blob.size > 0 && new Blob(["-", blob.slice(0, 1)]).size !== 2;
}

import { changed, type FilePart, fileChunks, type Multipart } from "../files/multipart.js";

/** A form as a Blob of Blobs: its length is known, and the platform streams it. */
export async function blobOf({ head, tail, part }: Multipart): Promise<Blob> {
  const { blob, size } = part.file;
  const form = new Blob([head, ...(blob ? [blob()] : await collect(part)), tail]);
  const found = form.size - new Blob([head, tail]).size;
  if (size !== undefined && found !== size) throw changed(part.file, `${found}`);
  return form;
}

// Few runtimes can send a stream: it is read whole first.
async function collect(part: FilePart): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // Copied: a stream may fill the same buffer again.
  for await (const chunk of fileChunks(part)) parts.push(new Uint8Array(chunk));
  return parts;
}

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** The answer's body with its content encoding undone. */
export function decoderFor(answer: IncomingMessage): Readable {
  const encoding = rawHeader(answer.rawHeaders, "content-encoding");
  if (encoding === undefined) return answer;
  // Loaded on first use: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return answer.pipe(zlib.createGunzip());
    case "deflate":
      return inflated(answer);
    case "br":
      return answer.pipe(zlib.createBrotliDecompress());
    default:
      return answer;
  }
}

// "deflate" means the zlib format, but some servers send raw deflate: the first byte tells them apart.
function inflated(answer: IncomingMessage): Readable {
  const zlib = process.getBuiltinModule("node:zlib");
  const { PassThrough } = process.getBuiltinModule("node:stream");
  const body = new PassThrough();
  const end = () => body.end();
  answer.once("end", end);
  answer.once("data", (first: Buffer) => {
    answer.off("end", end);
    const wrapped = ((first[0] ?? 0) & 0x0f) === 8;
    const decoder = wrapped ? zlib.createInflate() : zlib.createInflateRaw();
    decoder.on("error", (error) => body.destroy(error)).pipe(body);
    decoder.write(first);
    answer.pipe(decoder);
  });
  return body;
}

/** A header of an answer. Searched in rawHeaders: building the headers object costs more than the rest of a small answer. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name) return rawHeaders[i + 1];
  }
  return undefined;
}

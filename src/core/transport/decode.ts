import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** The answer's body with its content encoding undone. */
export function decoderFor(answer: IncomingMessage): Readable {
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity") return answer;
  // Loaded when first needed: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return answer.pipe(zlib.createGunzip());
    case "deflate":
      return answer.pipe(zlib.createInflate());
    case "br":
      return answer.pipe(zlib.createBrotliDecompress());
    default:
      return answer;
  }
}

// What an answer's bytes and headers are, as they come.
import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";

export interface BodyListener {
  ended(): void;
  /** It broke off, or is not what its content encoding says. */
  broken(cause: Error, undecodable: boolean): void;
  tooLarge(limit: number): void;
}

/** What brings an answer's bytes: a message of node:http, or a dispatcher. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** What undoes a content encoding; undefined for one that is not known. @param first The first byte of the body. */
export function createDecoder(encoding: string, first: number | undefined): Transform | undefined {
  // Loaded on first use: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      // It means the zlib format, but some servers send raw deflate: the first byte tells them apart.
      return ((first ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

/** An answer's headers. Node makes them of the raw list when asked. */
export function headersOf(message: IncomingMessage): Readonly<Record<string, string>> {
  const { rawHeaders } = message;
  // Node takes what Object.prototype has under a header's name for one that came before.
  if (rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() in Object.prototype)) {
    return headersFrom(rawHeaders);
  }
  const { headers } = message;
  const cookies = Object.hasOwn(headers, "set-cookie") ? headers["set-cookie"] : undefined;
  return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
}

/** Headers of a list of names and values, one after another. */
export function headersFrom(raw: readonly (string | Uint8Array)[]): Record<string, string> {
  // Not by assignment to an object, which fails for a name that Object.prototype has where a program has frozen it.
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = textOf(raw[i]).toLowerCase();
    const value = textOf(raw[i + 1]);
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

// undici 6 has bytes.
function textOf(value: string | Uint8Array | undefined): string {
  return typeof value === "string" ? value : Buffer.from(value ?? []).toString("latin1");
}

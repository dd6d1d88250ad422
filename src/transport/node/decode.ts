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

/** The encodings that a header lists, but those that change nothing. */
export function encodingsIn(header: string): readonly string[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/** What undoes content encodings; undefined where nothing does. @param first The first byte of the body. */
export function createDecoder(
  [encoding, ...more]: readonly string[],
  first: number | undefined,
): Transform | undefined {
  // Loaded on first use: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (more.length === 0 && encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      // It means the zlib format, but some servers send raw deflate: the first byte tells them apart.
      return ((first ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      // Node 22.15, 23.8 and newer.
      return (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress?.();
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

/** A header of a raw list; one that comes again is one list. Building the object costs more than the rest of a small answer. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name)
      value = value === undefined ? rawHeaders[i + 1] : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}

// A server announces the same time with every answer.
let lastHint: string | undefined;
let lastHintMs = Number.POSITIVE_INFINITY;

/** For how long a server keeps a connection (`Keep-Alive: max=100, timeout=5`), less a second. */
export function announcedMs(hint: string | undefined): number {
  if (hint !== lastHint) {
    const seconds = /(?:^|[\s,;])timeout\s*=\s*"?(\d+)/i.exec(hint ?? "")?.[1];
    lastHint = hint;
    lastHintMs = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - 1000;
  }
  return lastHintMs;
}

/** Headers of a list of names and values, one after another. */
export function headersFrom(raw: readonly (string | Uint8Array)[]): Record<string, string> {
  // Not by assignment to an object, which fails for a name that Object.prototype has where a program has frozen it.
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = headerText(raw[i]).toLowerCase();
    const value = headerText(raw[i + 1]);
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

// undici 6 has bytes.
function headerText(value: string | Uint8Array | undefined): string {
  return typeof value === "string" ? value : Buffer.from(value ?? []).toString("latin1");
}

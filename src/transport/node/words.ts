import { memberOf } from "../../errors/memberOf.js";

// Before the reason OpenSSL puts a thread, a number and its own source; behind it, a file and a line.
const openSsl = /(?:write EPROTO )?[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+).*/s;

/** What the network reported, for people. @param error What it was, with the bytes that Node's parser refused. */
export function wordsFor(message: string, error: unknown): string {
  const [first] = (memberOf(error, "rawPacket") ?? []) as Uint8Array;
  // The alert with which TLS answers what is none.
  if (first === 21) return `${message}: this port speaks TLS, so baseUrl begins with https.`;
  return message
    .replace(openSsl, "TLS: $1.")
    .replace("wrong version number.", "wrong version number; this port may speak plain http.");
}

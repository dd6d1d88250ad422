import { memberOf } from "../../values.js";

// Before the reason OpenSSL puts a thread, a number and its own source; behind it, a file and a line.
const openSsl = /(?:write EPROTO )?[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+).*/s;

/** What the network reported, for people; never throws. @param error What it was, with the bytes that Node's parser refused. */
export function wordsFor(message: string, error: unknown): string {
  const first = memberOf(memberOf(error, "rawPacket"), "0");
  // The alert with which TLS answers what is none.
  if (first === 21) return `${message}: this port speaks TLS, so baseUrl begins with https.`;
  return message
    .replace(openSsl, "TLS: $1.")
    .replace("wrong version number.", "wrong version number; this port may speak plain http.");
}

// What the network calls a connection that never came to be, and what to do about it.
const advice: readonly (readonly [codes: RegExp, what: string])[] = [
  [/REFUSED/i, "Nothing listens there: check baseUrl, and that the server runs."],
  [/^ENOTFOUND$/, "No host has this name: check baseUrl."],
  [/^CERT_HAS_EXPIRED$/, "The server's certificate has expired, or this machine's clock is wrong."],
  [/^CERT_NOT_YET_VALID$/, "The server's certificate is not valid yet: check this machine's clock."],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "The server's certificate is for other names: check the host in baseUrl.",
  ],
  [
    /CERT|UNABLE_TO_/,
    "The server's certificate is not trusted: check baseUrl, or name its authority in NODE_EXTRA_CA_CERTS.",
  ],
  [
    /^EPROTO$|^ERR_SSL_/,
    "No TLS connection: check scheme and port of baseUrl, and the server's TLS versions.",
  ],
];

/** What to do about a connection that never came to be, where retrying does not help. */
export function adviceFor(networkCode: string): string | undefined {
  return advice.find(([codes]) => codes.test(networkCode))?.[1];
}

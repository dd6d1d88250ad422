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

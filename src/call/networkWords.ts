/** What to do about a connection that never came to be, where retrying does not help. */
export function adviceFor(networkCode: string): string | undefined {
  if (/REFUSED/i.test(networkCode)) return "Nothing listens there: check baseUrl, and that the server runs.";
  if (networkCode === "ENOTFOUND") return "No host has this name: check baseUrl.";
  if (networkCode === "CERT_HAS_EXPIRED")
    return "The server's certificate has expired, or this machine's clock is wrong.";
  if (networkCode === "CERT_NOT_YET_VALID")
    return "The server's certificate is not valid yet: check this machine's clock.";
  if (networkCode === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "The server's certificate is for other names: check the host in baseUrl.";
  if (/CERT|UNABLE_TO_/.test(networkCode))
    return "The server's certificate is not trusted: check baseUrl, or name its authority in NODE_EXTRA_CA_CERTS.";
  if (/^EPROTO$|^ERR_SSL_/.test(networkCode))
    return "No TLS connection: check scheme and port of baseUrl, and the server's TLS versions.";
  return undefined;
}

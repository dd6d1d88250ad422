// Before the reason OpenSSL puts a thread, a number and its own source; behind it, a file and a line.
const openSsl = /(?:write EPROTO )?[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+).*/s;

/** What the network reported, for people. */
export function wordsFor(message: string): string {
  return message.replace(openSsl, "TLS: $1.");
}

/** What to do about a connection that never came to be, where retrying does not help. */
export function adviceFor(networkCode: string): string | undefined {
  if (/REFUSED/i.test(networkCode))
    return "Nothing listens at this address: check baseUrl, and that the server or the mock is running.";
  if (networkCode === "ENOTFOUND") return "No host has this name: check baseUrl.";
  if (networkCode === "CERT_HAS_EXPIRED")
    return "The server's certificate has expired: its operator has to renew it, unless this machine's clock is wrong.";
  if (networkCode === "CERT_NOT_YET_VALID")
    return "The server's certificate is not valid yet: check this machine's clock.";
  if (networkCode === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "The server's certificate is for other names: check the host in baseUrl.";
  if (/CERT|UNABLE_TO_/.test(networkCode))
    return "This machine does not trust the server's certificate: check baseUrl, or name its authority in NODE_EXTRA_CA_CERTS.";
  if (/^EPROTO$|^ERR_SSL_/.test(networkCode))
    return "No secure connection comes about: check that baseUrl has the right scheme and port, and which TLS versions the server allows.";
  return undefined;
}

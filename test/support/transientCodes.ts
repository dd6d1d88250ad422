/** What a network or a name server calls what may pass, before or after a connection is made. */
export const transientCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  "EAI_FAIL",
] as const;

/** An error as Node makes it of such a code. */
export function networkError(code: string, syscall: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

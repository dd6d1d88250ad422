/** Whether HTTP itself says that sending a request twice does no more than sending it once (RFC 9110, section 9.2.2). */
export function isIdempotent(method: string | undefined): boolean {
  return /^(GET|HEAD|PUT|DELETE)$/.test(method ?? "");
}

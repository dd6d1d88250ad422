/** What a JSON text holds, a byte order mark before it or not; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // The parser's message would quote the text: nothing of it is kept.
    return undefined;
  }
}

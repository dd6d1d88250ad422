/** The JSON of a request's body, whatever `toJSON` others put on Object.prototype or Array.prototype. */
export function jsonOf(body: object): string {
  return JSON.stringify("toJSON" in Array.prototype ? bare(body) : body);
}

// A copy that inherits nothing; what has a toJSON of its own, such as a Date, stays.
function bare(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(value.map(bare), null);
  const { toJSON } = value as { toJSON?: unknown };
  if (toJSON !== (Object.prototype as { toJSON?: unknown }).toJSON) return value;
  const copy = Object.create(null);
  for (const [name, member] of Object.entries(value)) copy[name] = bare(member);
  return copy;
}

/** What a JSON text holds, a byte order mark before it or not; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // The parser's message would quote the text: nothing of it is kept.
    return undefined;
  }
}

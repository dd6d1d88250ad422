import { invalid } from "../errors/statusError.js";
import { memberOf } from "../values.js";
import { isHeaderText, ownProperties } from "./arguments.js";
import type { HeadersLike } from "./callOptions.js";

const reservedHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
]);

/** The pairs in a list, a Map or Headers of any realm; undefined where a value is none of these. @throws StatusError */
export function headerPairs(
  value: unknown,
): readonly (readonly [name: unknown, content: unknown])[] | undefined {
  if (Array.isArray(value)) {
    if (value.every((pair) => Array.isArray(pair) && pair.length === 2)) return value;
    throw invalid("headers must be pairs of a name and a text.");
  }
  // A Set has no `get`: it holds no pairs.
  if (["get", "forEach"].some((name) => typeof memberOf(value, name) !== "function")) return undefined;
  const pairs: [unknown, unknown][] = [];
  (value as HeadersLike).forEach((content, name) => {
    pairs.push([name, content]);
  });
  return pairs;
}

/** Headers of the caller's own, names in lower case; those of a name that is there twice are joined, as Headers does. */
export function checkHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  const pairs = headerPairs(value);
  for (const [name, content] of pairs ??
    Object.entries(ownProperties(value as object | undefined, "headers"))) {
    const lower = typeof name === "string" ? name.toLowerCase() : "";
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(lower)) {
      throw invalid(`headers has a name that HTTP does not allow.`);
    }
    if (reservedHeaders.has(lower)) {
      throw invalid(`headers may not set ${lower}: the client sets it.`);
    }
    if (content === undefined) continue;
    const text = pairs && lower in headers ? `${headers[lower]}, ${content}` : content;
    if (typeof content !== "string" || !isHeaderText(text as string)) {
      throw invalid(`headers["${lower}"] must be printable ASCII text.`);
    }
    headers[lower] = text as string;
  }
  return headers;
}

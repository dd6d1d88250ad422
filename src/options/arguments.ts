import { invalid, refusal } from "../errors/statusError.js";
import { isLoopback, memberOf, urlOf } from "../values.js";
import type { Rules } from "./rules.js";
import type { HeadersLike } from "./types.js";
import { ownProperties, validate } from "./validate.js";

/**
 * Checks a resource id that is to stand in a path: it must not turn the call into another operation.
 * @param argument The argument that holds the id, if its name is not `what`
 */
export function checkId(value: unknown, what: string, rules?: Rules, argument: string = what): string {
  checkString(value, what, rules);
  if (value === "") throw invalid(argument, `${what} is empty.`);
  if (value.length > 256) throw invalid(argument, `${what} is longer than 256 characters.`);
  if (value === "." || value === "..") throw invalid(argument, `${what} may not be "${value}".`);
  if (value.includes("/")) {
    const last = value.slice(value.lastIndexOf("/") + 1);
    const alone = `pass the id alone${last ? ` ("${last}")` : ""}, not a full resource name.`;
    throw invalid(argument, `${what} contains "/": ${alone}`);
  }
  const bad = /[\\?#%]/.exec(value);
  if (bad) throw invalid(argument, `${what} may not contain "${bad[0]}".`);
  return checkCharacters(value, what, argument);
}

/** Checks that an API key can be sent in a header. The error never shows the key. */
export function checkApiKey(value: unknown, what: string): string {
  const problem = keyProblem(value);
  if (problem !== undefined) throw invalid(what, `${what} ${problem}`);
  return value as string;
}

/** Why a value cannot be an API key, as text to follow the option's name; undefined when it can. */
export function keyProblem(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return "must be a string that is not empty.";
  if (/^[\x21-\x7e]{1,8192}$/.test(value)) return undefined;
  return "has a space, a line break, a character outside ASCII, or over 8192 characters.";
}

/**
 * A text to follow the option's name if a value has an invisible character.
 * @param hasBlanks Whether it may have blanks, though not at an end
 */
export function unseenIn(text: unknown, hasBlanks = false): string | undefined {
  if (typeof text !== "string") return undefined;
  const end = /^\s|\s$/.exec(text);
  const [char] = end ?? (hasBlanks ? /\p{Cc}/u : /[\s\p{Cc}]/u).exec(text) ?? [];
  if (char === undefined) return undefined;
  const where = end ? (end.index ? "ends with" : "begins with") : "has";
  const other = `${/\s/.test(char) ? "whitespace" : "control"} character`;
  const name = char === "\ufeff" ? "byte order mark" : /[\r\n]/.test(char) ? "line break" : other;
  return `${where} a ${name}${end ? "" : " inside"}.`;
}

const notInBaseUrl: readonly (readonly [characters: RegExp, name: string])[] = [
  [/[?#]/, "a query or fragment"],
  [/[\s\\\p{Cc}]/u, "spaces, backslashes or control characters"],
  // The URL template would take braces for path parameters.
  [/[{}]/, '"{" or "}"'],
  [/\/(\.|%2e){1,2}(\/|$)/i, 'the path segments "." or ".."'],
];

/** Checks the service's address, and strips trailing slashes. The error never shows the value: it may hold a secret. */
export function checkBaseUrl(value: unknown, what: string, allowInsecureHttp: boolean): string {
  const url = urlOf(value);
  if (typeof value !== "string" || url === undefined)
    throw invalid(what, `${what} is not an absolute URL such as https://api.example.com.`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw invalid(what, `${what} must begin with https:// or http://.`);
  if (url.username !== "" || url.password !== "")
    throw invalid(what, `${what} may not contain a user name or password.`);
  const found = notInBaseUrl.find(([characters]) => characters.test(value));
  if (found) throw invalid(what, `${what} may not contain ${found[1]}.`);
  if (url.protocol === "http:" && !allowInsecureHttp && !isLoopback(url.hostname)) {
    throw invalid(what, `${what} is plain http to another machine: the key would go unencrypted.`, {
      hint: "Use https, or pass allowInsecureHttp: true in a trusted network.",
    });
  }
  // Linear time: the lookbehind keeps a run of slashes from being tried from each of its slashes (no ReDoS).
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
}

/** Whether a text is printable ASCII and tabs, which every transport sends unchanged. */
export function isHeaderText(value: string): boolean {
  return /^[\t\x20-\x7e]{0,8192}$/.test(value);
}

/** Checks that a value is text for a header. */
export function checkText(value: unknown, what: string): string {
  if (typeof value === "string" && isHeaderText(value)) return value;
  throw invalid(what, `${what} must be printable ASCII text.`);
}

/** The longest time a timer can hold, in milliseconds (24.8 days); Node turns a longer time into 1 ms. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Checks a duration in milliseconds: a finite number above 0. */
export function checkDuration(value: unknown, what: string): number {
  if (!Number.isFinite(value)) throw invalid(what, `${what} must be a number of milliseconds.`);
  if ((value as number) <= 0)
    throw refusal("OUT_OF_RANGE", what, `${what} must be greater than 0, not ${value}.`);
  return value as number;
}

/** Checks that a value is true, false or undefined, which counts as false. */
export function checkFlag(value: unknown, what: string): boolean {
  if (value !== undefined) validate(value, { type: "boolean" }, what);
  return value === true;
}

/** Checks that a value is a function or undefined. */
export function checkCallback<T>(value: T, what: string): T {
  if (value === undefined || typeof value === "function") return value;
  throw invalid(what, `${what} must be a function.`);
}

/** Checks a whole number of at least `minimum`. */
export function checkInteger(value: unknown, what: string, minimum = 0): number {
  validate(value, { type: "integer", minimum }, what);
  return value as number;
}

/** The largest number of retries in the decision table, and the default of `maxRetries`. */
export const mostRetries: number = 2;

/** Checks `maxRetries`, which can lower the numbers of the decision table, not raise them. */
export function checkRetries(value: unknown, what: string): number {
  const given = checkInteger(value, what);
  if (given <= mostRetries) return given;
  const message = `${what} must be at most ${mostRetries}, not ${given}: no failure is retried more often.`;
  throw refusal("OUT_OF_RANGE", what, message, { hint: "To try for longer, use rerankAll or a job queue." });
}

/** Checks a whole number of at least 1. */
export function checkCount(value: unknown, what: string): number {
  return checkInteger(value, what, 1);
}

/** Checks that a value is a string. @param rules What else it has to be */
export function checkString(value: unknown, what: string, rules?: Rules): asserts value is string {
  validate(value, rules ?? { type: "string" }, what);
}

/** Checks that a text has no control character and no lone surrogate. */
export function checkCharacters(value: string, what: string, argument: string = what): string {
  if (/\p{Cc}/u.test(value)) throw invalid(argument, `${what} contains a control character.`);
  if (/\p{Cs}/u.test(value)) throw invalid(argument, `${what} contains a lone surrogate.`);
  return value;
}

const reserved = /^(authorization|connection|content-length|content-type|host|transfer-encoding)$/;

/** The pairs in a list, a Map or Headers of any realm; undefined for any other value. @throws StatusError */
export function headerPairs(value: unknown): readonly (readonly [unknown, unknown])[] | undefined {
  if (Array.isArray(value)) {
    if (value.every((pair) => Array.isArray(pair) && pair.length === 2)) return value;
    throw invalid("headers", "headers must be pairs of a name and a text.");
  }
  // A Set has no `get`: it holds no pairs.
  if (["get", "forEach"].some((name) => typeof memberOf(value, name) !== "function")) return undefined;
  const pairs: [unknown, unknown][] = [];
  (value as HeadersLike).forEach((content, name) => {
    pairs.push([name, content]);
  });
  return pairs;
}

/** Checks the caller's headers, names in lower case. Values of a name that occurs twice are joined, as Headers does. */
export function checkHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  const pairs = headerPairs(value);
  const given = pairs ?? Object.entries(ownProperties(value as object | undefined, "headers"));
  for (const [name, content] of given) {
    const lower = typeof name === "string" ? name.toLowerCase() : "";
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(lower)) {
      throw invalid("headers", `headers has a name that HTTP does not allow.`);
    }
    if (reserved.test(lower)) {
      throw invalid(`headers["${lower}"]`, `headers may not set ${lower}: the client sets it.`);
    }
    if (content === undefined) continue;
    const text = pairs && lower in headers ? `${headers[lower]}, ${content}` : content;
    if (typeof content !== "string" || !isHeaderText(text as string)) {
      throw invalid(`headers["${lower}"]`, `headers["${lower}"] must be printable ASCII text.`);
    }
    headers[lower] = text as string;
  }
  return headers;
}

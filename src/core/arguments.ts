import { refusal } from "./status.js";

const nothing: object = Object.freeze(Object.create(null));

/** An own-properties-only copy, so that a polluted Object.prototype adds nothing to it. */
export function ownProperties<T extends object>(value: T | undefined, what: string): T {
  if (value === undefined) return nothing as T;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} must be an object.`);
  }
  return Object.assign(Object.create(null), value) as T;
}

/** A resource id as it may stand in a path: never one that could turn the call into another operation. */
export function checkId(value: unknown, what: string): string {
  if (typeof value !== "string") throw refusal("INVALID_ARGUMENT", `${what} must be a string.`);
  if (value === "") throw refusal("INVALID_ARGUMENT", `${what} is empty.`);
  if (value.length > 256) throw refusal("INVALID_ARGUMENT", `${what} is longer than 256 characters.`);
  if (value === "." || value === "..") throw refusal("INVALID_ARGUMENT", `${what} may not be "${value}".`);
  if (value.includes("/")) {
    const last = value.slice(value.lastIndexOf("/") + 1);
    throw refusal(
      "INVALID_ARGUMENT",
      `${what} contains "/": pass the id alone${last ? ` ("${last}")` : ""}, not a full resource name.`,
    );
  }
  const bad = /[\\?#%]/.exec(value);
  if (bad) throw refusal("INVALID_ARGUMENT", `${what} may not contain "${bad[0]}".`);
  if (hasControl(value)) throw refusal("INVALID_ARGUMENT", `${what} contains a control character.`);
  if (!isWellFormed(value)) throw refusal("INVALID_ARGUMENT", `${what} contains a lone surrogate.`);
  return value;
}

/** A key that can stand in a header. The value is never repeated in the error. */
export function checkApiKey(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") {
    throw refusal("INVALID_ARGUMENT", `${what} must be a string that is not empty.`);
  }
  if (!/^[\x21-\x7e]{1,8192}$/.test(value)) {
    throw refusal(
      "INVALID_ARGUMENT",
      `${what} has a character that a key cannot have (a space, a line break or one outside ASCII), or over 8192 characters.`,
    );
  }
  return value;
}

/** The service's address without a trailing slash. The value is never repeated in the error: it may hold a secret. */
export function checkBaseUrl(value: unknown, what: string, allowInsecureHttp: boolean): string {
  if (typeof value !== "string" || !URL.canParse(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} is not an absolute URL such as https://api.example.com.`);
  }
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refusal("INVALID_ARGUMENT", `${what} must begin with https://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refusal("INVALID_ARGUMENT", `${what} may not contain a user name or password.`);
  }
  if (/[?#]/.test(value)) throw refusal("INVALID_ARGUMENT", `${what} may not contain a query or fragment.`);
  if (/[\s\\]/.test(value) || hasControl(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} may not contain spaces, backslashes or control characters.`);
  }
  // A host may have them: it would be filled in with the account, as the operation's path is.
  if (/[{}]/.test(value)) throw refusal("INVALID_ARGUMENT", `${what} may not contain "{" or "}".`);
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} may not contain the path segments "." or "..".`);
  }
  if (url.protocol === "http:" && !allowInsecureHttp && !isLoopback(url.hostname)) {
    throw refusal(
      "INVALID_ARGUMENT",
      `${what} is plain http to another machine, which would send the key unencrypted.`,
      { hint: "Use https, or pass allowInsecureHttp: true where the network itself is trusted." },
    );
  }
  // Each run of slashes is read once, however long the path is.
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

const reservedHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
]);

/** Headers of the caller's own, names in lower case. */
export function checkHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, content] of Object.entries(ownProperties(value as object | undefined, "headers"))) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(lower)) {
      throw refusal("INVALID_ARGUMENT", `headers has a name that HTTP does not allow.`);
    }
    if (reservedHeaders.has(lower)) {
      throw refusal("INVALID_ARGUMENT", `headers may not set ${lower}: the client sets it.`);
    }
    if (content === undefined) continue;
    if (typeof content !== "string" || !isHeaderText(content)) {
      throw refusal("INVALID_ARGUMENT", `headers["${lower}"] is not text that an HTTP header can carry.`);
    }
    headers[lower] = content;
  }
  return headers;
}

/** Printable ASCII and tabs: what every transport sends unchanged. */
export function isHeaderText(value: string): boolean {
  return /^[\t\x20-\x7e]{0,8192}$/.test(value);
}

/** A duration in milliseconds: a finite number above 0, or 0 where the caller says so. */
export function checkDuration(value: unknown, what: string): number {
  return checkNumber(value, what, { integer: false, minimum: 0, above: true });
}

/** The same, or undefined. */
export function checkOptionalDuration(value: unknown, what: string): number | undefined {
  return value === undefined ? undefined : checkDuration(value, what);
}

/** True or false; undefined counts as false. */
export function checkFlag(value: unknown, what: string): boolean {
  if (value === undefined || typeof value === "boolean") return value === true;
  throw refusal("INVALID_ARGUMENT", `${what} must be true or false.`);
}

/** A function, or undefined. */
export function checkCallback<T>(value: T, what: string): T {
  if (value === undefined || typeof value === "function") return value;
  throw refusal("INVALID_ARGUMENT", `${what} must be a function.`);
}

/** A whole number of at least `minimum`. */
export function checkInteger(value: unknown, what: string, minimum: number): number {
  return checkNumber(value, what, { integer: true, minimum, above: false });
}

function checkNumber(
  value: unknown,
  what: string,
  rule: { integer: boolean; minimum: number; above: boolean },
): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} must be a finite number.`);
  }
  if (rule.integer && !Number.isSafeInteger(value)) {
    throw refusal("INVALID_ARGUMENT", `${what} must be a whole number, not ${value}.`);
  }
  if (value < rule.minimum || (rule.above && value === rule.minimum)) {
    const bound = rule.above ? `greater than ${rule.minimum}` : `at least ${rule.minimum}`;
    throw refusal("OUT_OF_RANGE", `${what} must be ${bound}, not ${value}.`);
  }
  return value;
}

/** The base name of a file's path, for either separator, as it may stand in a multipart header. */
export function checkFileName(value: unknown, what: string): string {
  if (typeof value !== "string") throw refusal("INVALID_ARGUMENT", `${what} must be a string.`);
  const name = value.slice(Math.max(value.lastIndexOf("/"), value.lastIndexOf("\\")) + 1);
  if (name === "" || name === "." || name === "..") {
    throw refusal(
      "INVALID_ARGUMENT",
      `${what} has no base name: pass {name} with one such as "train.jsonl".`,
    );
  }
  if (hasControl(name)) throw refusal("INVALID_ARGUMENT", `${what} contains a control character.`);
  if (!isWellFormed(name)) throw refusal("INVALID_ARGUMENT", `${what} contains a lone surrogate.`);
  return name;
}

function hasControl(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) return true;
  }
  return false;
}

function isWellFormed(value: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(value);
}

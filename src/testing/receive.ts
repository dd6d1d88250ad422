// Reads a request and checks it by the contract's rules.
import { invalid } from "../errors/statusError.js";
import { filePartOf, parseMultipart } from "../files/multipart.js";
import { requests } from "../generated/contract.js";
import { forms } from "../generated/descriptions.js";
import type { Rules } from "../options/rules.js";
import type { AbortSignalLike } from "../options/types.js";
import { type RequestRules, validate } from "../options/validate.js";
import { memberOf, ownValue, parseJson } from "../values.js";
import { Refusal } from "./mockResponse.js";
import type { TestFile } from "./types.js";

export interface Incoming {
  readonly method: string;
  /** The path of the URL, not decoded, without the query. */
  readonly path: string;
  /** The query of the URL, not decoded, without the question mark; empty if there is none. */
  readonly query: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; undefined if it is larger than the largest allowed request. */
  readonly body: Uint8Array | undefined;
  /** Aborts when the client disconnects or aborts. */
  readonly signal: AbortSignalLike;
}

/** The content of a request's body, as far as it can be read. */
export interface ReceivedContent {
  body?: unknown;
  file?: TestFile;
}

const fileLimits = Object.values<RequestRules>(requests)
  .filter(({ file }) => file !== undefined)
  .map((rules) => filePartOf(rules).maxFileBytes);
const largestFile = fileLimits.length > 0 ? Math.max(...fileLimits) : Number.POSITIVE_INFINITY;

/** The most bytes of a form: the boundaries and the headers of its parts have room of their own. */
export const maxFormBytes: number = largestFile + 64 * 1024;

/** Adds what the body has to `content`, and checks the request. @throws StatusError or Refusal to reject it */
export async function readRequest(
  rules: RequestRules,
  incoming: Incoming,
  strict: boolean | undefined,
  content: ReceivedContent,
): Promise<void> {
  await readBody(rules, incoming, strict, content);
  const sent = new URLSearchParams(incoming.query);
  const { query = { type: "object" }, headers = { type: "object" } } = rules;
  const unknown = [...sent.keys()].find((name) => !Object.hasOwn(query.properties ?? {}, name));
  if (strict && unknown !== undefined) throw invalid(unknown, `There is no parameter ${unknown}.`);
  const queried = valuesOf(query, (name) => sent.getAll(name));
  checkAll(queried, query, "query");
  const header = (name: string): string[] => [incoming.headers[name.toLowerCase()] ?? []].flat();
  checkAll(valuesOf(headers, header), headers, "headers");
}

async function readBody(
  rules: RequestRules,
  { headers, body }: Incoming,
  strict: boolean | undefined,
  content: ReceivedContent,
): Promise<void> {
  const { contentType, optional, body: own, file: name } = rules;
  if (body === undefined) throw tooLarge(largestFile);
  if (own === undefined && body.length > 0) throw invalid("body", "The request takes no body.");
  if (own === undefined || (optional && body.length === 0)) return;
  const sent = headers["content-type"] ?? "";
  if (sent.split(";")[0]?.trim().toLowerCase() !== contentType)
    throw new Refusal("INVALID_ARGUMENT", `The content type must be ${contentType}.`, 415);
  if (name !== undefined) {
    const parts = parseMultipart(body, sent);
    if (parts === undefined) throw invalid("body", "The form is not well formed.");
    const [part, another] = parts.filter((each) => each.name === name);
    if (part === undefined) throw invalid(name, `The part ${name} is required.`);
    const { filename = "file", contentType: type = "application/octet-stream", content: bytes } = part;
    content.file = { filename, contentType: type, bytes: bytes.byteLength, sha256: await sha256(bytes) };
    const { maxFileBytes } = filePartOf(rules);
    if (bytes.byteLength > maxFileBytes) throw tooLarge(maxFileBytes);
    if (another) throw invalid(name, `The form must have one part ${name}.`);
    if (strict && parts.length > 1) throw invalid("body", "The form must have one part.");
    return;
  }
  const text = new TextDecoder().decode(body);
  const value = parseJson(/\d{16}/.test(text) ? withSafeIntegers(text) : text);
  content.body = value ?? text;
  if (value === undefined) throw invalid("body", "The body must be JSON.");
  const isMap = typeof own.additionalProperties === "object";
  checkAll(value, strict && !isMap ? { ...own, additionalProperties: false } : own, "body");
}

const textOrInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,19}(?![\d.eE])/gs;

// Replaces each integer that fits in 64 bits but not in a JavaScript number by the nearest safe integer.
function withSafeIntegers(json: string): string {
  return json.replace(textOrInteger, (token) => {
    if (token.startsWith('"') || BigInt.asIntN(64, BigInt(token)) !== BigInt(token)) return token;
    return `${Math.min(Math.max(Number(token), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)}`;
  });
}

// Parses parameters by the types in the rules. An array parameter that is sent once becomes an array of one.
function valuesOf(rules: Rules, textsOf: (name: string) => string[]): Record<string, unknown> {
  const found = Object.entries(rules.properties ?? {}).flatMap(([name, { type, items }]) => {
    const values = textsOf(name).map((text) => typed(text, items?.type ?? type ?? "string"));
    if (values.length === 0) return [];
    return [[name, type === "array" || values.length > 1 ? values : values[0]] as const];
  });
  return Object.fromEntries(found);
}

function typed(text: string, type: string): unknown {
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  const isNumber = (type === "integer" || type === "number") && /^-?\d/.test(text);
  return isNumber ? Number(text) : text;
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("INVALID_ARGUMENT", `A file of up to ${maxBytes} bytes fits in one request.`, 413);
}

async function sha256(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Checks a value by all its rules: the client's, and those that it leaves to the service. @throws StatusError */
export function checkAll(value: unknown, rules: Rules, name: string): void {
  validate(value, rules, name);
  checkStrictly(value, rules, name);
}

/**
 * Checks what the mock server rejects but the client leaves to the service: unknown fields, and texts that do not match
 * their pattern or are none of their listed values. @throws StatusError
 */
export function checkStrictly(value: unknown, rules: Rules, name: string): void {
  const { pattern: source, enum: values, items, additionalProperties: others, oneOf } = rules;
  if (source !== undefined && !new RegExp(source, "u").test(value as string))
    throw invalid(name, `${name} must have the form ${forms[source]}.`);
  if (values !== undefined && !values.includes(value))
    throw invalid(name, `${name} must be one of ${values.join(", ")}.`);
  // Strings are excluded: each character of a long string would be an entry.
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const variant = oneOf?.variants[String(memberOf(value, oneOf.propertyName))];
  const known = { ...rules.properties, ...variant?.properties };
  for (const [key, part] of entries) {
    const found = items ?? ownValue(known, key);
    if (found) checkStrictly(part, found, items ? `${name}[${key}]` : key);
    else if (typeof others === "object") checkStrictly(part, others, key);
    else if (others === false) throw invalid(key, `There is no field ${key}.`);
  }
}

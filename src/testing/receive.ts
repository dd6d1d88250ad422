import { sentences } from "../errors/hints.js";
import { invalid, isStatusError } from "../errors/statusError.js";
import { filePartOf, parseMultipart } from "../files/multipart.js";
import { type OperationId, requests } from "../generated/contract.js";
import { forms } from "../generated/descriptions.js";
import { enumeration, pattern, type Rules } from "../options/rules.js";
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

/** The content of a request's body, and the reason to reject the request, if there is one. */
export interface ReceivedContent {
  readonly body?: unknown;
  readonly file?: TestFile;
  readonly refusal?: Refusal;
}

const fileLimits = Object.values<RequestRules>(requests)
  .filter(({ file }) => file !== undefined)
  .map((rules) => filePartOf(rules).maxFileBytes);
const largestFile = fileLimits.length > 0 ? Math.max(...fileLimits) : Number.POSITIVE_INFINITY;
// Room for the boundaries of a form and the headers of its part.
const framingBytes = 64 * 1024;

export const maxFormBytes: number = largestFile + framingBytes;

export async function readRequest(
  operation: OperationId,
  incoming: Incoming,
  strict: boolean,
): Promise<ReceivedContent> {
  const rules: RequestRules = requests[operation];
  const content = await readBody(rules, incoming, strict);
  const refusal = parameterRefusal(rules, incoming, strict) ?? content.refusal;
  return refusal ? { ...content, refusal } : content;
}

async function readBody(rules: RequestRules, incoming: Incoming, strict: boolean): Promise<ReceivedContent> {
  const { headers, body } = incoming;
  const { contentType, optional, body: own, file } = rules;
  const sent = headers["content-type"] ?? "";
  if (body === undefined) return { refusal: tooLarge(largestFile) };
  if (own === undefined)
    return body.length === 0 ? {} : { refusal: invalidRequest("The request takes no body.") };
  if (optional && body.length === 0) return {};
  const media = sent.split(";")[0]?.trim().toLowerCase();
  if (media !== contentType)
    return { refusal: new Refusal("INVALID_ARGUMENT", `The content type must be ${contentType}.`, 415) };
  if (file !== undefined)
    return await readForm(body, sent, { name: file, maxBytes: filePartOf(rules).maxFileBytes, strict });
  const text = new TextDecoder().decode(body);
  const value = parseJson(/\d{16}/.test(text) ? withSafeIntegers(text) : text);
  if (value === undefined) return { body: text, refusal: invalidRequest("The body must be JSON.") };
  const isMap = typeof own.additionalProperties === "object";
  const refusal = refusalOf(value, strict && !isMap ? { ...own, additionalProperties: false } : own, "body");
  return { body: value, ...(refusal && { refusal }) };
}

const textOrInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,19}(?![\d.eE])/gs;

// Replaces each integer that fits in 64 bits but not in a JavaScript number by the nearest safe integer.
function withSafeIntegers(json: string): string {
  return json.replace(textOrInteger, (token) => {
    if (token.startsWith('"') || BigInt.asIntN(64, BigInt(token)) !== BigInt(token)) return token;
    return `${Math.min(Math.max(Number(token), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)}`;
  });
}

function parameterRefusal(rules: RequestRules, incoming: Incoming, strict: boolean): Refusal | undefined {
  const sent = new URLSearchParams(incoming.query);
  const { query = { type: "object" }, headers = { type: "object" } } = rules;
  const unknown = strict && [...sent.keys()].find((name) => !Object.hasOwn(query.properties ?? {}, name));
  if (typeof unknown === "string") return invalidRequest(`There is no parameter ${unknown}.`);
  const header = (name: string): string[] => {
    const value = incoming.headers[name.toLowerCase()];
    return value === undefined ? [] : [value];
  };
  const queried = valuesOf(query, (name) => sent.getAll(name));
  return refusalOf(queried, query, "query") ?? refusalOf(valuesOf(headers, header), headers, "headers");
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

/** The refusal of a value that breaks a rule; undefined if the value breaks none. */
export function refusalOf(value: unknown, rules: Rules, name: string): Refusal | undefined {
  try {
    validate(value, rules, name);
    checkStrictly(value, rules, name);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return new Refusal(error.code, sentences(error.text, error.hint));
  }
  return undefined;
}

async function readForm(
  body: Uint8Array,
  contentType: string,
  { name, maxBytes, strict }: { readonly name: string; readonly maxBytes: number; readonly strict: boolean },
): Promise<ReceivedContent> {
  const parts = parseMultipart(body, contentType);
  if (parts === undefined) return { refusal: invalidRequest("The form is not well formed.") };
  const [part, another] = parts.filter((each) => each.name === name);
  if (part === undefined) return { refusal: invalidRequest(`The part ${name} is required.`) };
  const file = {
    filename: part.filename ?? "file",
    contentType: part.contentType ?? "application/octet-stream",
    bytes: part.content.byteLength,
    sha256: await sha256(part.content),
  };
  if (file.bytes > maxBytes) return { file, refusal: tooLarge(maxBytes) };
  if (another) return { file, refusal: invalidRequest(`The form must have one part ${name}.`) };
  if (strict && parts.length > 1) return { file, refusal: invalidRequest("The form must have one part.") };
  return { file };
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("INVALID_ARGUMENT", `A file of up to ${maxBytes} bytes fits in one request.`, 413);
}

function invalidRequest(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", message);
}

async function sha256(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Checks what a strict test service rejects but the client leaves to the service: unknown fields, and texts that do not
 * match their pattern or are none of their listed values. @throws StatusError
 */
export function checkStrictly(value: unknown, rules: Rules, name: string): void {
  const { pattern: source, enum: values, items, additionalProperties: others } = rules;
  if (source !== undefined) pattern(value as string, source, { name, rules: { form: forms[source] } });
  if (values !== undefined) enumeration(value, values, { name });
  // Strings are excluded: each character of a long string would be an entry.
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const known = { ...rules.properties, ...variantOf(value, rules)?.properties };
  for (const [key, part] of entries) {
    const found = items ?? ownValue(known, key);
    if (found) checkStrictly(part, found, items ? `${name}[${key}]` : key);
    else if (typeof others === "object") checkStrictly(part, others, key);
    else if (others === false) throw invalid(key, `There is no field ${key}.`);
  }
}

function variantOf(value: unknown, { oneOf }: Rules): Rules | undefined {
  return oneOf?.variants[String(memberOf(value, oneOf.propertyName))];
}

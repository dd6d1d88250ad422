import { isStatusError } from "../errors/statusError.js";
import { requests } from "../generated/contract.js";
import { type RequestRules, type Rules, validate } from "../options/validate.js";
import { Refusal } from "./answer.js";
import { parseMultipart } from "./multipart.js";
import { operationIds } from "./route.js";
import { strictProblem } from "./strictRules.js";
import type { TestFile, TestOperation } from "./types.js";

/** A request before anything is made of it. */
export interface Incoming {
  readonly method: string;
  /** Not decoded, without a query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for one that is larger than any request may be. */
  readonly body: Uint8Array | undefined;
  /** Aborts when its sender is gone. */
  readonly signal: AbortSignal;
}

/** What a body holds, and what is wrong with it. */
export interface Content {
  readonly body?: unknown;
  readonly file?: TestFile;
  readonly refusal?: Refusal;
}

const maxBytes = requests.uploadDatasetFile.body.properties.file["x-max-bytes"];
// Boundaries and the head of a part.
const framingBytes = 64 * 1024;

/** The most bytes that are kept of an upload. */
export const maxFormBytes: number = maxBytes + framingBytes;

/** Reads a body as its operation takes it. */
export async function readContent(
  operation: TestOperation,
  { headers, body }: Incoming,
  strict: boolean,
): Promise<Content> {
  const { contentType, body: rules = { type: "object" } }: RequestRules = requests[operationIds[operation]];
  const sent = headers["content-type"] ?? "";
  if (body === undefined) return { refusal: tooLarge() };
  const media = sent.split(";")[0]?.trim().toLowerCase();
  if (media !== contentType) {
    return { refusal: new Refusal("INVALID_ARGUMENT", `The content type must be ${contentType}.`, 415) };
  }
  if (operation === "upload") return await readForm(body, sent);
  const text = new TextDecoder().decode(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { body: text, refusal: new Refusal("INVALID_ARGUMENT", "The body must be JSON.") };
  }
  return { body: value, ...refusalOf(value, strict ? { ...rules, additionalProperties: false } : rules) };
}

function refusalOf(value: unknown, rules: Rules): Pick<Content, "refusal"> {
  try {
    validate(value, rules, "body");
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { refusal: new Refusal(error.code, error.message.replace(/^\[\w+\] /, "")) };
  }
  const problem = strictProblem(value, rules, "body");
  return problem === undefined ? {} : { refusal: new Refusal("INVALID_ARGUMENT", problem) };
}

async function readForm(body: Uint8Array, contentType: string): Promise<Content> {
  const parts = parseMultipart(body, contentType);
  if (parts === undefined)
    return { refusal: new Refusal("INVALID_ARGUMENT", "The form is not well formed.") };
  const files = parts.filter(({ name }) => name === "file");
  const [part] = files;
  if (part === undefined) return { refusal: new Refusal("INVALID_ARGUMENT", "The part file is required.") };
  const file = {
    filename: part.filename ?? "file",
    contentType: part.contentType ?? "application/octet-stream",
    bytes: part.content.byteLength,
    sha256: await sha256(part.content),
  };
  if (file.bytes > maxBytes) return { file, refusal: tooLarge() };
  if (parts.length > 1)
    return { file, refusal: new Refusal("INVALID_ARGUMENT", "The form must have one part.") };
  return { file };
}

function tooLarge(): Refusal {
  return new Refusal("INVALID_ARGUMENT", `A file of up to ${maxBytes} bytes fits in one request.`, 413);
}

async function sha256(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

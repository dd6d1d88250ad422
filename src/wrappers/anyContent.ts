// How a request of any operation is written, and its answer read.

import { UnusableAnswer } from "../call/answer.js";
import { writeJson } from "../call/request.js";
import { invalid } from "../errors/statusError.js";
import { checkId, ownProperties } from "../options/arguments.js";
import { header } from "../policy/retryAfter.js";
import type { TransportResponse } from "../transport/transport.js";
import { memberOf, parseJson, tagOf } from "../values.js";
import type { EncodedRequest, QueryValue, ServiceRequest } from "./types.js";

const segmentName = "A segment of path";

/** A path as it stands in a URL. A verb is a part of the path as the caller writes it, so its colon stays. @throws StatusError */
export function encodePath(path: unknown): string {
  const segments = segmentsOf(path).map((each) => encodeURIComponent(checkId(each, segmentName)));
  return `/${segments.join("/").replaceAll("%3A", ":")}`;
}

/** A query as it stands in a URL, its question mark included; nothing when there is none. @throws StatusError */
export function encodeQuery(query: ServiceRequest["query"]): string {
  const pairs = Object.entries(ownProperties(query, "query")).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each: QueryValue) => `${encodeText(name)}=${encodeText(queryText(each, name))}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The URL below the base URL. @throws StatusError for one that would read otherwise: it would be another operation. */
export function urlBelow(baseUrl: string, target: string): URL {
  const [path] = target.split("?");
  for (const segment of segmentsOf(path)) checkId(decodeSegment(segment), segmentName);
  const text = baseUrl + target;
  const url = new URL(text);
  const isBelow = url.origin === new URL(baseUrl).origin && url.href.startsWith(`${baseUrl}/`);
  if (isBelow && url.href === text && url.hash === "") return url;
  throw invalid("path and query cannot stand in the URL unchanged.");
}

function segmentsOf(path: unknown): string[] {
  if (typeof path === "string" && path.startsWith("/")) return path.slice(1).split("/");
  throw invalid('path must be a string that begins with "/".');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid(`${segmentName} is not well encoded.`);
  }
}

function queryText(value: unknown, name: string): string {
  const isValue = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  if (isValue) return String(value);
  throw invalid(`query.${name} must be text, a finite number, true, false or a list of these.`);
}

function encodeText(text: string): string {
  try {
    // Whoever parses the URL would encode a quote.
    return encodeURIComponent(text).replaceAll("'", "%27");
  } catch {
    throw invalid("query contains a lone surrogate.");
  }
}

type EncodedBody = Pick<EncodedRequest, "body" | "contentType">;
type Bytes = Uint8Array | Blob | FormData;
type BytesTag = "Uint8Array" | "Blob" | "File" | "FormData";

/** The body that a caller gave, as it is sent. @throws StatusError for what is neither JSON nor bytes. */
export async function contentOf(body: unknown, contentType: string | undefined): Promise<EncodedBody> {
  if (body === undefined) {
    if (contentType === undefined) return { body, contentType };
    throw invalid("contentType is given without a body.");
  }
  // By its tag: naming the classes would load all of fetch on Node, and packages and other realms have their own.
  const tag = tagOf(body);
  if (/^(Uint8Array|Blob|File|FormData)$/.test(tag))
    return readBytes(body as Bytes, tag as BytesTag, contentType);
  return jsonOf(body, contentType);
}

async function readBytes(body: Bytes, tag: BytesTag, contentType: string | undefined): Promise<EncodedBody> {
  const isForm = tag === "FormData";
  if (contentType === undefined || (isForm && !/^multipart\/form-data$/i.test(contentType))) {
    const needed = isForm ? "multipart/form-data" : "application/octet-stream";
    throw invalid(`A body that is not JSON needs contentType, such as "${needed}".`);
  }
  // Copied: what the caller writes into it later is not sent. It throws for a buffer that was transferred.
  if (tag === "Uint8Array") return { body: new Uint8Array(body as Uint8Array), contentType };
  if (!isForm) return { body: new Uint8Array(await (body as Blob).arrayBuffer()), contentType };
  const encoded = new Response(body as FormData);
  // With the boundary between its parts.
  const type = encoded.headers.get("content-type") ?? contentType;
  // Of another class it would be sent as the text "[object FormData]".
  if (!/boundary=/.test(type))
    throw invalid("body must be a FormData of the platform's own, not of a package.");
  return { body: new Uint8Array(await encoded.arrayBuffer()), contentType: type };
}

function jsonOf(body: unknown, contentType = "application/json"): EncodedBody {
  if (!isJson(body)) {
    throw invalid("body must be a JSON value, a Uint8Array, a Blob or a FormData.");
  }
  if (!/[/+]json\s*(;|$)/i.test(contentType)) {
    throw invalid(`body would be sent as JSON: for ${contentType} pass a Uint8Array or a Blob.`);
  }
  return { body: writeJson(body, refuseOthers), contentType };
}

// A stream, a Map or a URLSearchParams would be sent as an empty object.
function isJson(body: unknown): boolean {
  const kind = tagOf(body);
  if (typeof memberOf(body, "toJSON") === "function") return true;
  const isStream = kind === "Object" && Symbol.asyncIterator in (body as object);
  return /^(String|Number|Boolean|Null|Array|Object)$/.test(kind) && !isStream;
}

// What JSON.stringify leaves out, or writes as null, in silence.
function refuseOthers(name: string, value: unknown): unknown {
  const isOther = typeof value === "function" || typeof value === "symbol";
  const where = name === "" ? "it" : name;
  if (isOther) throw new TypeError(`${where} is a ${typeof value}.`);
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${where} is ${value}.`);
  return value;
}

/**
 * What a 2xx answer holds: a value when its type is JSON, text when that is text, otherwise bytes; undefined when it is
 * empty. An Unusable when it is not the JSON that it says it is.
 */
export function readContent({ status, headers, bytes }: TransportResponse): unknown {
  if (bytes.byteLength === 0) return undefined;
  const type = header(headers, "content-type") ?? "";
  const isJson = /^[^;]*[/+]json\s*(;|$)/i.test(type);
  if (!isJson && !/^\s*text\//i.test(type)) return bytes;
  const text = decodeText(bytes, /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1]);
  if (!isJson) return text;
  const value = parseJson(text);
  if (value !== undefined) return value;
  const message = `The answer is not the JSON that its type promises (HTTP ${status}).`;
  return new UnusableAnswer("INTERNAL", message, "notJson");
}

function decodeText(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A name that is no encoding's.
    return new TextDecoder().decode(bytes);
  }
}

import { writeJson } from "../call/request.js";
import { invalid } from "../errors/statusError.js";
import { memberOf } from "../values.js";
import type { EncodedRequest } from "./types.js";

// Taken now: others may set another.
const { toString: objectTag } = Object.prototype;

type EncodedBody = Pick<EncodedRequest, "body" | "contentType">;
type Bytes = Uint8Array | Blob | FormData;

/** The body that a caller gave, as it is sent. @throws StatusError for what is neither JSON nor bytes. */
export async function contentOf(body: unknown, contentType: string | undefined): Promise<EncodedBody> {
  if (body === undefined) {
    if (contentType === undefined) return { body, contentType };
    throw invalid("contentType is given without a body.");
  }
  // By its tag: naming the classes would load all of fetch on Node.
  if (/^(Uint8Array|Blob|File|FormData)$/.test(tagOf(body))) return bytesOf(body as Bytes, contentType);
  return jsonOf(body, contentType);
}

async function bytesOf(body: Bytes, contentType: string | undefined): Promise<EncodedBody> {
  const isForm = !(body instanceof Uint8Array) && !("size" in body);
  if (contentType === undefined || (isForm && !/^multipart\/form-data$/i.test(contentType))) {
    const needed = isForm ? "multipart/form-data" : "application/octet-stream";
    throw invalid(`A body that is not JSON needs contentType, such as "${needed}".`);
  }
  if (body instanceof Uint8Array) return { body: copyOf(body), contentType };
  if (!isForm) return { body: new Uint8Array(await (body as Blob).arrayBuffer()), contentType };
  const encoded = new Response(body as FormData);
  // With the boundary between its parts.
  const type = encoded.headers.get("content-type") ?? contentType;
  return { body: new Uint8Array(await encoded.arrayBuffer()), contentType: type };
}

// What the caller writes into it later is not sent. It throws for a buffer that was transferred.
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
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

// "Blob" of "[object Blob]".
function tagOf(value: unknown): string {
  return objectTag.call(value).slice(8, -1);
}

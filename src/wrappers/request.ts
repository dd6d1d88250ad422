// Calls operations by their description in the contract, and `client.request`. Loaded with the first such call.
import { noValue, type ResponseReader, readObject, unusableResponse } from "../call/response.js";
import type { CallSettings, PreparedRequest } from "../call/types.js";
import { isIdempotent } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { invalid } from "../errors/statusError.js";
import { type OperationRow, operations, requests } from "../generated/contract.js";
import { checkHeaders, checkId, isHeaderText } from "../options/arguments.js";
import type { Rules } from "../options/rules.js";
import {
  checkSpelling,
  type OptionTable,
  ownProperties,
  type RequestRules,
  validate,
} from "../options/validate.js";
import { header } from "../policy/retry.js";
import type { TransportResponse } from "../transport/exchange.js";
import { memberOf, parseJson, tagOf, valueOr } from "../values.js";
import { exactUrl, writeJson } from "./invoke.js";
import type {
  EncodedContent,
  EncodedRequest,
  OperationArguments,
  QueryValue,
  RequestOptions,
  ServiceRequest,
} from "./types.js";

/** Checks the arguments of an operation, and makes its request. @throws StatusError */
export function prepareOperation<T>(
  draft: PreparedRequest<T>,
  input: OperationArguments,
): PreparedRequest<T> {
  const { operation, body, parameters, json } = input;
  const rules: RequestRules = requests[operation];
  const row: OperationRow = operations[operation];
  const { query, headers } = checkParameters(rules, parameters);
  const { body: bodyRules } = rules;
  const isLeftOut = bodyRules === undefined || (body === undefined && rules.optional);
  if (!isLeftOut) {
    validate(body, bodyRules, "body");
    checkSpelling(body as object, bodyRules.properties ?? {}, "body");
  }
  const content = isLeftOut ? undefined : (body as object);
  return {
    ...draft,
    url: exactUrl(draft.url.href + encodeQuery(query)),
    headers: row.accept === undefined ? headers : { ...headers, accept: row.accept },
    body: json ?? (content && writeJson(content)),
    contentType: content && rules.contentType,
    read: readerFor(row) as ResponseReader<T>,
    content,
  };
}

function checkParameters({ query, headers }: RequestRules, given: object | undefined) {
  const fields = { ...query?.properties, ...headers?.properties };
  const own = ownProperties(given, "parameters", fields as never) as Readonly<Record<string, unknown>>;
  const partOf = (rules: Rules | undefined): Record<string, unknown> => {
    const part = Object.fromEntries(Object.keys(rules?.properties ?? {}).map((name) => [name, own[name]]));
    if (rules) validate(part, rules, "parameters");
    return part;
  };
  const texts = Object.entries(partOf(headers)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const queried = partOf(query) as ServiceRequest["query"];
  return { query: queried, headers: checkHeaders(Object.fromEntries(texts)) };
}

function readerFor({ value, accept = "" }: OperationRow): ResponseReader<unknown> {
  const asObject = readObject((value) => value);
  if (value === undefined) return asObject;
  const made: Readonly<Record<typeof value, (got: TransportResponse) => unknown>> = {
    none: () => undefined,
    bytes: ({ bytes }) => bytes,
    text: (got) => readContent(got) ?? "",
  };
  const asTyped = readWhole(made[value]);
  // A web page that was not asked for does not come from the service: it may be a sign-in page.
  const page = /^\s*text\/html/i;
  const isUnasked = ({ headers }: TransportResponse) =>
    page.test(header(headers, "content-type") ?? "") && !page.test(accept);
  return (got) => (isUnasked(got) ? asObject : asTyped)(got);
}

/** Makes a reader of 2xx responses with any content. */
function readWhole<T>(read: (response: TransportResponse) => T | Failure): ResponseReader<T> {
  return (response) => (response.ok && !response.unread ? read(response) : noValue);
}

const names: OptionTable<ServiceRequest> = {
  method: 1,
  path: 1,
  query: 1,
  body: 1,
  contentType: 1,
  accept: 1,
};
const segmentName = "A segment of path";
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const defaultMaxResponseBytes = 1024 * 1024;

/** Checks and encodes the caller's request. @throws StatusError */
export async function prepareAny<T>(
  settings: CallSettings,
  own: RequestOptions,
  request: ServiceRequest,
): Promise<PreparedRequest<T>> {
  const { method, path, query, body, contentType, accept } = ownProperties(request, "request", names);
  checkMethod(method, body);
  checkMediaType(contentType, "contentType");
  checkMediaType(accept, "accept");
  const segments = segmentsOf(path).map((each) =>
    encodeURIComponent(checkId(each, segmentName, undefined, "path")),
  );
  // The colon before a verb, as in `jobs/1:resume`, stays unencoded.
  const target = `/${segments.join("/").replaceAll("%3A", ":")}${encodeQuery(query)}`;
  const content = await contentOf(body, contentType);
  const read = readWhole((whole) => readContent(whole) as T | Failure);
  return requestOf(settings, own, { method, target, accept, ...content }, read);
}

/** Makes the request of a call whose path, query and body are already encoded. @throws StatusError */
export async function prepareEncoded(
  settings: CallSettings,
  own: RequestOptions,
  { content, ...encoded }: EncodedRequest,
  onResponse: (headers: Readonly<Record<string, string>>) => void,
): Promise<PreparedRequest<Uint8Array>> {
  const request = { ...encoded, ...(await content()) };
  checkMethod(request.method, request.body);
  const read = readWhole((response) => {
    const content = readContent(response);
    return content instanceof Failure ? content : response.bytes;
  });
  return requestOf(settings, own, request, (response) => {
    onResponse(response.headers);
    return read(response);
  });
}

function requestOf<T>(
  settings: CallSettings,
  own: RequestOptions,
  { method, target, body, contentType, accept }: Omit<EncodedRequest, "content"> & EncodedContent,
  read: ResponseReader<T>,
): PreparedRequest<T> {
  // No segment may lead out of the base URL.
  for (const segment of segmentsOf(target.split("?")[0])) {
    const text = valueOr(() => decodeURIComponent(segment));
    if (text === undefined) throw invalid("path", `${segmentName} is not well encoded.`);
    checkId(text, segmentName, undefined, "path");
  }
  return {
    operation: "request",
    method,
    url: exactUrl(settings.client.baseUrl + target),
    headers: {
      // The response may be large: compression is asked for.
      ...(!Object.hasOwn(settings.headers, "accept-encoding") && { "accept-encoding": "gzip, deflate, br" }),
      ...(accept !== undefined && { accept }),
    },
    body,
    form: undefined,
    contentType,
    maxResponseBytes: own.maxResponseBytes ?? defaultMaxResponseBytes,
    idempotent: isIdempotent(method),
    read,
    content: undefined,
  };
}

function checkMethod(method: string, body: unknown): void {
  if (!methods.includes(method)) throw invalid("method", `method must be one of ${methods.join(", ")}.`);
  if (body === undefined || !/^(GET|HEAD)$/.test(method)) return;
  throw invalid("body", `body cannot be sent with ${method}.`);
}

function checkMediaType(value: unknown, what: string): void {
  if (value === undefined || (typeof value === "string" && value !== "" && isHeaderText(value))) return;
  throw invalid(what, `${what} must be a media type such as "application/json".`);
}

/** Encodes a query for a URL, with its question mark; the empty string when there is none. @throws StatusError */
function encodeQuery(query: ServiceRequest["query"]): string {
  const pairs = Object.entries(ownProperties(query, "query")).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each: QueryValue) => {
        if (typeof each === "string" || typeof each === "boolean" || Number.isFinite(each))
          return `${encodeText(name)}=${encodeText(String(each))}`;
        const what = `query.${name}`;
        throw invalid(what, `${what} must be text, a finite number, true, false or a list of these.`);
      }),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function segmentsOf(path: unknown): string[] {
  if (typeof path === "string" && path.startsWith("/")) return path.slice(1).split("/");
  throw invalid("path", 'path must be a string that begins with "/".');
}

function encodeText(text: string): string {
  try {
    // URL parsers encode a quote, and exactUrl rejects a URL that parsing changes.
    return encodeURIComponent(text).replaceAll("'", "%27");
  } catch {
    throw invalid("query", "query contains a lone surrogate.");
  }
}

/** Turns the caller's body into the body to send. @throws StatusError if it is neither JSON nor bytes. */
async function contentOf(body: unknown, contentType: string | undefined): Promise<EncodedContent> {
  if (body === undefined) {
    if (contentType === undefined) return { body, contentType };
    throw invalid("contentType", "contentType is given without a body.");
  }
  // A body is recognised by its tag: naming the classes would load fetch on Node, and other realms have other classes.
  const tag = tagOf(body);
  if (/^(Uint8Array|Blob|File|FormData)$/.test(tag)) return readBytes(body, tag, contentType);
  if (!isJson(body)) {
    throw invalid("body", "body must be a JSON value, a Uint8Array, a Blob or a FormData.");
  }
  const type = contentType ?? "application/json";
  if (!/[/+]json\s*(;|$)/i.test(type)) {
    throw invalid("contentType", `body would be sent as JSON: for ${type} pass a Uint8Array or a Blob.`);
  }
  return { body: writeJson(body, refuseOthers), contentType: type };
}

async function readBytes(
  body: unknown,
  tag: string,
  contentType: string | undefined,
): Promise<EncodedContent> {
  const isForm = tag === "FormData";
  if (contentType === undefined || (isForm && !/^multipart\/form-data$/i.test(contentType))) {
    const needed = isForm ? "multipart/form-data" : "application/octet-stream";
    throw invalid("contentType", `A body that is not JSON needs contentType, such as "${needed}".`);
  }
  // Copied, so that later changes by the caller are not sent. The copy throws if the buffer was transferred.
  if (tag === "Uint8Array") return { body: new Uint8Array(body as Uint8Array), contentType };
  if (!isForm) return { body: new Uint8Array(await (body as Blob).arrayBuffer()), contentType };
  const encoded = new Response(body as FormData);
  // This content type includes the boundary between the form's parts.
  const type = encoded.headers.get("content-type") ?? contentType;
  // A FormData of another class would be sent as the text "[object FormData]".
  if (!/boundary=/.test(type))
    throw invalid("body", "body must be a FormData of the platform, not of a package.");
  return { body: new Uint8Array(await encoded.arrayBuffer()), contentType: type };
}

// Whether a body can be written as JSON. A stream, a Map or a URLSearchParams would be written as an empty object.
function isJson(body: unknown): boolean {
  const kind = tagOf(body);
  if (typeof memberOf(body, "toJSON") === "function") return true;
  const isStream = kind === "Object" && Symbol.asyncIterator in (body as object);
  return /^(String|Number|Boolean|Null|Array|Object)$/.test(kind) && !isStream;
}

// Throws for values that JSON.stringify would silently leave out or write as null.
function refuseOthers(name: string, value: unknown): unknown {
  const isOther = typeof value === "function" || typeof value === "symbol";
  const where = name === "" ? "it" : name;
  if (isOther) throw new TypeError(`${where} is a ${typeof value}.`);
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${where} is ${value}.`);
  return value;
}

/**
 * The content of a 2xx response: a parsed value if its type is JSON, a string if its type is text, else bytes;
 * undefined when the body is empty. A Failure if the type is JSON, but the body is not.
 */
function readContent({ status, headers, bytes }: TransportResponse): unknown {
  if (bytes.byteLength === 0) return undefined;
  const type = header(headers, "content-type") ?? "";
  const isJson = /^[^;]*[/+]json\s*(;|$)/i.test(type);
  if (!isJson && !/^\s*text\//i.test(type)) return bytes;
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1];
  // An unknown charset is read as UTF-8.
  const text = valueOr(() => new TextDecoder(charset), new TextDecoder()).decode(bytes);
  if (!isJson) return text;
  const value = parseJson(text);
  if (value !== undefined) return value;
  const message = `The response is not the JSON that its type promises (HTTP ${status}).`;
  return unusableResponse(message, { events: ["notJson"] });
}

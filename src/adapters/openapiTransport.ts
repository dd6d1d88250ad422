// Sends the requests of openapi-fetch through the client, and turns the responses into its Responses and errors.
import { invalid, isStatusError, StatusError } from "../errors/statusError.js";
import type { EncodedCall, EncodedContent, RequestOptions } from "../wrappers/types.js";

/** The base URL for openapi-fetch, which needs one at once: the client may read its own only at the first call. */
export const placeholder = "https://service.invalid";

// The Response that openapi-fetch receives, and the StatusError of an error response.
type Received = { readonly response: Response; readonly failed?: StatusError };

// The URL of each Request before parsing, which removes dot segments: the rest could name another operation.
const written = new WeakMap<Request, string>();

/** A subclass of the platform's Request that remembers its URL as it was written. */
export function requestClass(): typeof Request {
  const Platform = Request;
  return class extends Platform {
    // Middleware may return a Request of the platform's own class: openapi-fetch has to recognize it by `instanceof`.
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof Platform;
    }

    constructor(address: string, init?: RequestInit) {
      urlTarget(address);
      super(address, init);
      written.set(this, address);
    }
  } as typeof Request;
}

async function sendThrough(send: EncodedCall, request: Request, options: RequestOptions): Promise<Received> {
  const { method, signal } = request;
  const { "content-type": type, accept, ...headers } = Object.fromEntries(request.headers);
  const target = urlTarget(written.get(request) ?? request.url);
  const content = async (): Promise<EncodedContent> => {
    const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const body = bytes?.byteLength === 0 && type === undefined ? undefined : bytes;
    return { body, contentType: body && type };
  };
  const encoded = { method, target, accept, content };
  let received: Readonly<Record<string, string>> = {};
  const onResponse = (found: typeof received): void => {
    received = found;
  };
  try {
    const call = send(encoded, { ...options, headers, signal }, onResponse);
    const { data, httpStatus } = await call.withResponse();
    return { response: libraryResponse(httpStatus, received, data as Uint8Array<ArrayBuffer>) };
  } catch (error) {
    if (!isStatusError(error) || !isResponse(error)) throw error;
    const { httpStatus = 0, body: said = "" } = error;
    const text = typeof said === "string" ? said : JSON.stringify(said);
    return { response: libraryResponse(httpStatus, received, text), failed: error };
  }
}

/**
 * The result of a call of openapi-fetch whose Request goes through the client, with a StatusError as its `error`.
 * @param call Makes the call with this `fetch` @throws StatusError if fetch would reject, or a response is not JSON
 */
export async function callThrough(
  send: EncodedCall,
  options: RequestOptions,
  call: (fetch: (request: Request) => Promise<Response>) => Promise<{ response: Response }>,
): Promise<object> {
  const exchange: Partial<Received> = Object.create(null);
  const fetch = async (request: Request) =>
    Object.assign(exchange, await sendThrough(send, request, options)).response;
  try {
    const result = await call(fetch);
    const { response } = result;
    const { failed } = exchange;
    return failed !== undefined && response === exchange.response ? { error: failed, response } : result;
  } catch (error) {
    if (error instanceof URIError)
      throw invalid("params", "A parameter contains a lone surrogate.", ofRequest);
    if (!(error instanceof SyntaxError && exchange.response?.ok)) throw error;
    const { status } = exchange.response;
    // The message of the JSON parser is not used: it would quote the response.
    throw new StatusError(`The response is not the JSON that parseAs asks for (HTTP ${status}).`, {
      code: "INTERNAL",
      executed: "yes",
      codeSource: "client",
      operation: "request",
      httpStatus: status,
      notRetried: "not-transient",
    });
  }
}

const ofRequest = { operation: "request", notRetried: "refused" } as const;

// The path and query below the base URL. openapi-fetch has encoded the parameters; characters that no URL may contain
// are encoded here.
function urlTarget(address: string): string {
  const isBelow = address.startsWith(`${placeholder}/`) && !address.includes("#");
  if (!isBelow) throw invalid("path", 'The path must begin with "/" and may not contain "#".', ofRequest);
  const [path = "", ...query] = address.slice(placeholder.length).split("?");
  const [open] = /\{[^{}]*\}/.exec(path) ?? [];
  if (open !== undefined)
    throw invalid(`params.path.${open.slice(1, -1)}`, `params.path has no ${open.slice(1, -1)}.`, ofRequest);
  const encoded = path.replace(/[^\w.~!$&'()*+,;=:@%/-]/gu, encodeURIComponent);
  return encoded + new URL(`${placeholder}/?${query.join("?")}`).search;
}

// Whether a complete error response arrived. A network failure after the status is none: it is thrown, as by fetch.
function isResponse({ httpStatus = 0, codeSource }: StatusError): boolean {
  return (codeSource === "body" || codeSource === "status") && httpStatus >= 200 && httpStatus < 600;
}

const empty: ReadonlySet<number> = new Set([204, 205, 304]);
// Headers that describe the body as it was transferred. The body passed on is decoded, so they are removed.
const ofTransfer = ["content-encoding", "content-length", "transfer-encoding"];

function libraryResponse(
  status: number,
  received: Readonly<Record<string, string>>,
  body: Uint8Array<ArrayBuffer> | string,
): Response {
  const headers = Object.entries(received).filter(([name]) => !ofTransfer.includes(name));
  return new Response(empty.has(status) ? null : body, { status, headers });
}

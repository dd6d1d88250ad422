/**
 * A client of openapi-fetch that sends through a client of this package, for the service's OpenAPI document or your
 * own.
 *
 * @module tunerank/openapi-fetch
 */
import type {
  FetchResponse,
  Client as LibraryClient,
  ClientOptions as LibraryOptions,
  MaybeOptionalInit,
} from "openapi-fetch";
import createLibraryClient from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import type { Client } from "../client.js";
import { invalid, type StatusError } from "../errors/statusError.js";
import type { paths } from "../generated/paths.js";
import { headerPairs } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { insideOf, type RequestOptions } from "../wrappers/types.js";
import { callThrough, placeholder, requestClass } from "./openapiTransport.js";

export type { components, operations, paths } from "../generated/paths.js";

const optionNames: OptionTable<OpenapiClientOptions> = {
  headers: 1,
  querySerializer: 1,
  bodySerializer: 1,
  pathSerializer: 1,
};

const callNames: OptionTable<OpenapiCallOptions> = {
  timeoutMs: 1,
  attemptTimeoutMs: 1,
  maxRetries: 1,
  idempotent: 1,
  onAttempt: 1,
  maxResponseBytes: 1,
};

/**
 * Creates a complete client of openapi-fetch that sends through `client`, and so uses its key, connections, deadlines,
 * retries and errors. The types come from the service's OpenAPI document, or from your own document if you pass the
 * `paths` that openapi-typescript generated from it.
 *
 * An error response becomes the call's `error`, a StatusError whose `body` has the type in the document. All other
 * failures are thrown, as StatusErrors too: a failed connection, a deadline, an abort, a response that is not JSON as
 * expected, and an invalid request, which is not sent. If an `onResponse` middleware returns its own Response, `error`
 * is made from that Response, as openapi-fetch does.
 *
 * @param client The client whose key and connections are used.
 * @param options Options of openapi-fetch that apply to all calls.
 * @throws StatusError `INVALID_ARGUMENT` when `client` is not a client of this package, or an option cannot be used.
 * @example
 * const api = createOpenapiClient(client);
 * const { data, error } = await api.POST("/inference/v1/rerank", { body: { query: "q", documents: ["d"] } });
 * if (error) throw error;
 */
export function createOpenapiClient<Paths extends {} = paths, Media extends MediaType = MediaType>(
  client: Pick<Client, "request">,
  options: OpenapiClientOptions = {},
): OpenapiClient<Paths, Media> {
  const send = insideOf(client)?.callEncoded;
  if (send === undefined) throw invalid("client", "client must be one that createClient made.");
  const own = ownProperties(options, "options", optionNames);
  const library = createLibraryClient<Paths, Media>({
    ...own,
    headers: libraryHeaders(own.headers),
    baseUrl: placeholder,
    Request: requestClass(),
  });
  const call = library.request as unknown as LibraryRequest;
  const request = async (method: string, path: string, init: object = {}): Promise<object> => {
    const { own, options } = divided(init);
    return callThrough(send, options, (fetch) => call(method, path, { ...own, fetch }));
  };
  const methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"].map((method) => [
    method,
    (path: string, init?: object) => request(method, path, init),
  ]);
  const { use, eject } = library;
  return { ...Object.fromEntries(methods), request, use, eject } as OpenapiClient<Paths, Media>;
}

type LibraryRequest = (method: string, path: string, init: object) => Promise<{ response: Response }>;

// Divides what a call is given into what openapi-fetch reads and the options of `client.request`.
function divided(init: object): { own: object; options: RequestOptions } {
  const own: Record<string, unknown> = { ...ownProperties(init, "init") };
  const options: Record<string, unknown> = {};
  for (const name of ["baseUrl", "fetch", "Request"]) {
    if (own[name] !== undefined)
      throw invalid(`init.${name}`, `init may not set ${name}: requests go through the client.`);
  }
  for (const name of Object.keys(callNames)) {
    if (own[name] !== undefined) options[name] = own[name];
    delete own[name];
  }
  if (own.headers !== undefined) own.headers = libraryHeaders(own.headers);
  return { own, options };
}

// Converts headers to a form that openapi-fetch reads: it ignores a Map and foreign Headers, and reads the positions of
// a list of pairs as names.
function libraryHeaders(headers: unknown): NonNullable<OpenapiClientOptions["headers"]> {
  const pairs = headerPairs(headers)?.filter(([, content]) => content !== undefined);
  if (pairs) return new Headers(pairs as [string, string][]);
  return ownProperties(headers as Record<string, string> | undefined, "headers");
}

/** Options of {@link createOpenapiClient}: those of openapi-fetch, except what the client of this package decides. */
export type OpenapiClientOptions = Pick<
  LibraryOptions,
  "headers" | "querySerializer" | "bodySerializer" | "pathSerializer"
>;

/** The options of one call that are added to those of openapi-fetch: the options of `client.request`. */
export type OpenapiCallOptions = Omit<RequestOptions, "headers" | "signal">;

/** The result of openapi-fetch, except that `error` is a StatusError whose `body` has the type in the document. */
export type OpenapiResponse<Result> = Result extends { error: infer Body; response: infer Response }
  ? { data?: never; error: StatusError & { readonly body?: Body }; response: Response }
  : Result;

// Adds a call's own options to the `Init` that TypeScript has inferred: they must not take part in the inference.
type Own<Init> = Init & OpenapiCallOptions & { [key: string]: unknown };
type Given<Init> = RequiredKeysOf<Init> extends never ? [init?: Own<Init>] : [init: Own<Init>];

/** A method of {@link OpenapiClient}. It takes the path as the document writes it, then the parameters and the body. */
export type OpenapiMethod<Paths extends {}, Method extends HttpMethod, Media extends MediaType> = <
  Path extends PathsWithMethod<Paths, Method>,
  Init extends MaybeOptionalInit<Paths[Path], Method & keyof Paths[Path]>,
>(
  path: Path,
  ...init: Given<Init>
) => Promise<
  OpenapiResponse<
    FetchResponse<Paths[Path][Method & keyof Paths[Path]] & Record<string | number, unknown>, Init, Media>
  >
>;

/** A client of openapi-fetch for the document `Paths`. Made by {@link createOpenapiClient}. */
export interface OpenapiClient<Paths extends {}, Media extends MediaType = MediaType>
  extends Pick<LibraryClient<Paths, Media>, "use" | "eject"> {
  /** Calls an operation with the HTTP method GET. */
  readonly GET: OpenapiMethod<Paths, "get", Media>;
  /** Calls an operation with the HTTP method PUT. */
  readonly PUT: OpenapiMethod<Paths, "put", Media>;
  /** Calls an operation with the HTTP method POST. */
  readonly POST: OpenapiMethod<Paths, "post", Media>;
  /** Calls an operation with the HTTP method DELETE. */
  readonly DELETE: OpenapiMethod<Paths, "delete", Media>;
  /** Calls an operation with the HTTP method OPTIONS. */
  readonly OPTIONS: OpenapiMethod<Paths, "options", Media>;
  /** Calls an operation with the HTTP method HEAD. */
  readonly HEAD: OpenapiMethod<Paths, "head", Media>;
  /** Calls an operation with the HTTP method PATCH. */
  readonly PATCH: OpenapiMethod<Paths, "patch", Media>;
  /** Calls an operation with the HTTP method that is the first argument. */
  readonly request: <
    Method extends HttpMethod,
    Path extends PathsWithMethod<Paths, Method>,
    Init extends MaybeOptionalInit<Paths[Path], Method & keyof Paths[Path]>,
  >(
    method: Method,
    path: Path,
    ...init: Given<Init>
  ) => Promise<
    OpenapiResponse<
      FetchResponse<Paths[Path][Method & keyof Paths[Path]] & Record<string | number, unknown>, Init, Media>
    >
  >;
}

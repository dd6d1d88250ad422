import type {
  FetchResponse,
  Client as LibraryClient,
  ClientOptions as LibraryOptions,
  MaybeOptionalInit,
} from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import type { StatusError } from "../errors/statusError.js";
import type { RequestOptions } from "../wrappers/types.js";

/** Options of {@link createOpenapiClient}: openapi-fetch's own; what the client itself decides is not among them. */
export type OpenapiClientOptions = Pick<
  LibraryOptions,
  "headers" | "querySerializer" | "bodySerializer" | "pathSerializer"
>;

/** What one call may set for itself besides openapi-fetch's own: the options of `client.request`. */
export type OpenapiCallOptions = Omit<RequestOptions, "headers" | "signal">;

/** What openapi-fetch resolves to, where `error` is a StatusError whose `body` has the type of the document. */
export type OpenapiResponse<Answer> = Answer extends { error: infer Body; response: infer Response }
  ? { data?: never; error: StatusError & { readonly body?: Body }; response: Response }
  : Answer;

// Added last, as openapi-fetch does: it must not take part in inference.
type Own<Init> = Init & OpenapiCallOptions & { [key: string]: unknown };
type Given<Init> = RequiredKeysOf<Init> extends never ? [init?: Own<Init>] : [init: Own<Init>];

/** A method of {@link OpenapiClient}: the path as the document has it, then its parameters and body. */
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
  /** Calls an operation by GET. */
  readonly GET: OpenapiMethod<Paths, "get", Media>;
  /** Calls an operation by PUT. */
  readonly PUT: OpenapiMethod<Paths, "put", Media>;
  /** Calls an operation by POST. */
  readonly POST: OpenapiMethod<Paths, "post", Media>;
  /** Calls an operation by DELETE. */
  readonly DELETE: OpenapiMethod<Paths, "delete", Media>;
  /** Calls an operation by OPTIONS. */
  readonly OPTIONS: OpenapiMethod<Paths, "options", Media>;
  /** Calls an operation by HEAD. */
  readonly HEAD: OpenapiMethod<Paths, "head", Media>;
  /** Calls an operation by PATCH. */
  readonly PATCH: OpenapiMethod<Paths, "patch", Media>;
  /** Calls an operation by a method that is given as its first argument. */
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

import type { OperationId } from "../generated/contract.js";
import type { Code, ReinforcementFineTuningJob } from "../generated/types.js";
import type { FetchResponse, HeadersLike } from "../options/types.js";

/** The name of an operation: its id in the contract, or its short name if it has one. */
export type TestOperation = "resume" | "rerank" | "scale" | "upload" | OperationId;

/** Options of {@link createTestService}. */
export interface TestServiceOptions {
  /** The only API key that is accepted. @default any bearer key */
  apiKey?: string | undefined;
  /** The jobs that exist in every account, by id; other fields are mock data. @default every job exists, paused */
  jobs?: Readonly<Record<string, Partial<ReinforcementFineTuningJob>>> | undefined;
  /** The deployments that exist, by id, with their number of replicas. @default every deployment exists */
  deployments?: Readonly<Record<string, number>> | undefined;
  /** The ids of the datasets that exist. @default every dataset exists */
  datasets?: readonly string[] | undefined;
  /** Reject (HTTP status 400) a body or a query with a field that the contract does not have. @default false */
  strict?: boolean | undefined;
  /** How many of the last requests `requests` keeps, with at most 64 MiB of bodies. At least 1. @default all */
  keepRequests?: number | undefined;
}

/** Options of {@link TestService.listen}. */
export interface ListenOptions {
  /** The port to listen on; 0 for any free port. @default 0 */
  port?: number | undefined;
  /** The host name or address to listen on. @default 127.0.0.1 */
  host?: string | undefined;
  /**
   * More origins of web pages that may call the server, such as `https://app.example.com`. Pages of this machine
   * (localhost, 127.0.0.1, [::1]) always may. @default none
   */
  allowOrigins?: readonly string[] | undefined;
  /** Called once the response was sent, or the client disconnected. Errors that it throws are ignored. */
  onRequest?: ((request: ServedRequest) => void) | undefined;
}

/** The argument of {@link ListenOptions.onRequest}. */
export interface ServedRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  /** The HTTP status of the response; undefined if none was sent. */
  readonly status: number | undefined;
  /** The `x-request-id` of the response; undefined if none was sent. */
  readonly requestId: string | undefined;
  /** Milliseconds from the arrival of the request's headers to the end of the response. */
  readonly durationMs: number;
}

/** An uploaded file as the test service received it. */
export interface TestFile {
  /** The file name in the form. */
  readonly filename: string;
  /** The media type of the file's part in the form. */
  readonly contentType: string;
  /** The size of the file in bytes. */
  readonly bytes: number;
  /** The SHA-256 hash of the content, in hexadecimal. */
  readonly sha256: string;
}

/** An uploaded file that the test service accepted. */
export interface TestStoredFile extends TestFile {
  /** The file's id in the response. */
  readonly id: string;
}

/** A request as the test service received it. Rejected requests are kept too. */
export interface TestRequest {
  /** The operation's short name, or its id; absent if no operation has this method and path. */
  readonly operation?: TestOperation;
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path as it was sent, not decoded. */
  readonly path: string;
  /** The query as it was sent, without the question mark; absent if there is none. */
  readonly query?: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body; the text of the body if it is not JSON. */
  readonly body?: unknown;
  /** The file of an upload. */
  readonly file?: TestFile;
}

/** A deployment in the test service. */
export interface TestDeployment {
  /** The full resource name. */
  readonly name: string;
  /** The number of replicas that the deployment was last scaled to. */
  readonly replicaCount: number;
}

/** A dataset in the test service. */
export interface TestDataset {
  /** The full resource name. */
  readonly name: string;
  /** The uploaded files, in the order of the uploads. */
  readonly files: readonly TestStoredFile[];
}

/** A scripted failure. Set `status` and/or `code`, or `reset`, `stall` or `truncate`; `delayMs` with these or alone. */
export interface ScriptedFailure {
  /** How many requests fail this way; `Infinity` for all. @default 1 */
  times?: number | undefined;
  /** The HTTP status of the response. @default the status that belongs to `code` */
  status?: number | undefined;
  /** The error code in the body. Without it the body has no code, like an error response of a proxy. */
  code?: Exclude<Code, "OK"> | undefined;
  /** The error message in the body. */
  message?: string | undefined;
  /** The header `Retry-After`, in seconds. */
  retryAfter?: number | undefined;
  /** Headers that are added to the response. */
  headers?: Readonly<Record<string, string>> | HeadersLike | undefined;
  /** The whole body, instead of code and message. A string is sent as it is, any other value as JSON. */
  body?: unknown;
  /** Reset the connection instead of responding. */
  reset?: boolean | undefined;
  /** Never respond. */
  stall?: boolean | undefined;
  /** Carry out the operation, send the headers and half of the body of the real response, then break the connection. */
  truncate?: boolean | undefined;
  /** How many milliseconds to wait first. If it is set alone, the real response is sent late. */
  delayMs?: number | undefined;
  /** Carry out the operation, although its response is lost. @default true for `truncate` and `delayMs` alone */
  executes?: boolean | undefined;
}

/** The platform's `Response` type, if the program's types have it. */
export type TestResponse = typeof globalThis extends { Response: { prototype: infer R } } ? R : FetchResponse;

/** The type of the test service's `fetch` function, for the option `fetch` of `createClient` or any other client. */
export type TestFetch = (
  input: string | { readonly href: string } | { readonly url: string },
  init?: object,
) => Promise<TestResponse>;

/** A test service that listens on a port. */
export interface TestServer {
  /** The base URL of the server. */
  readonly url: string;
  /** Stops the server and closes all open connections. */
  close(): Promise<void>;
}

/** A test service. {@link createTestService} creates it. */
export interface TestService {
  /** A `fetch` function that responds without a network. The host of the URL does not matter. */
  readonly fetch: TestFetch;
  /** Starts a server on a port of this machine. Needs node:http: Node, Bun or Deno. @param options Where, and for whom. */
  listen(options?: ListenOptions): Promise<TestServer>;
  /** The requests received so far, in the order in which they were complete. */
  readonly requests: readonly TestRequest[];
  /** The jobs that requests have named so far, by full resource name. */
  readonly jobs: ReadonlyMap<string, ReinforcementFineTuningJob>;
  /** The deployments that requests have named so far, by full resource name. */
  readonly deployments: ReadonlyMap<string, TestDeployment>;
  /** The datasets that requests have named so far, by full resource name. */
  readonly datasets: ReadonlyMap<string, TestDataset>;
  /**
   * Scripts a failure of the next requests of an operation. Failures are used up in the order of their scripts.
   *
   * @param operation The operation whose requests fail.
   * @param failure How the requests fail, and how many of them.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` if `operation` or `failure` is invalid.
   * @example service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 });
   */
  fail(operation: TestOperation, failure: ScriptedFailure): void;
  /**
   * Scripts the successful response of an operation, until `reset`. Invalid requests are still rejected, and the
   * operation still changes its resource.
   *
   * @param operation The operation whose response is scripted.
   * @param value The body: an object for JSON, a string for text, a string or Uint8Array for bytes.
   * @throws StatusError `INVALID_ARGUMENT` for a value that the operation cannot respond with.
   * @example service.answer("rerank", { object: "list", model: "m", data: [{ index: 1, relevance_score: 0.9 }] });
   */
  answer(operation: TestOperation, value: unknown): void;
  /** Forgets all requests and scripts, and undoes all changes that calls have made. */
  reset(): void;
}

import type { OperationId } from "../generated/contract.js";
import type { Code, ReinforcementFineTuningJob } from "../generated/types.js";
import type { FetchResponse, HeadersLike } from "../options/types.js";

/** An operation by its id in the contract, or by its short name where it has one. */
export type TestOperation = "resume" | "rerank" | "scale" | "upload" | OperationId;

/** The options of {@link createTestService}. */
export interface TestServiceOptions {
  /** The only key that is accepted. @default any bearer key */
  apiKey?: string | undefined;
  /**
   * The jobs that exist, by id, in every account; fields that are left out are invented.
   * @default every job exists, and is in the state JOB_STATE_PAUSED
   */
  jobs?: Readonly<Record<string, Partial<ReinforcementFineTuningJob>>> | undefined;
  /** The deployments that exist, by id, with their number of replicas. @default every one exists, with 1 */
  deployments?: Readonly<Record<string, number>> | undefined;
  /** The ids of the datasets that exist. @default every one exists */
  datasets?: readonly string[] | undefined;
  /** Answer 400 to a body or a query with a field that the contract does not have. @default false */
  strict?: boolean | undefined;
  /** Keep only the last so many requests in `requests`, and 64 MiB of their bodies. At least 1. @default all */
  keepRequests?: number | undefined;
}

/** Options of {@link TestService.listen}. */
export interface ListenOptions {
  /** 0 means any free one. @default 0 */
  port?: number | undefined;
  /** @default 127.0.0.1 */
  host?: string | undefined;
  /**
   * Origins of web pages that may call it, such as `https://app.example.com`, besides `null` and those of localhost,
   * 127.0.0.1 and [::1] at any port. @default none
   */
  allowOrigins?: readonly string[] | undefined;
  /** Called once a request has been answered, or its sender is gone. What it throws is ignored. */
  onRequest?: ((request: AnsweredRequest) => void) | undefined;
}

/** What {@link ListenOptions.onRequest} is called with. */
export interface AnsweredRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** As it was sent, without its query. */
  readonly path: string;
  /** Undefined when it was not answered. */
  readonly status: number | undefined;
  /** The `x-request-id` of its answer; undefined when it was not answered. */
  readonly requestId: string | undefined;
  /** Milliseconds from its first byte to the last of its answer. */
  readonly durationMs: number;
}

/** A file as it arrived. */
export interface TestFile {
  /** The name in the form. */
  readonly filename: string;
  /** The media type of its part. */
  readonly contentType: string;
  /** How many bytes arrived. */
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** A file that was accepted. */
export interface TestStoredFile extends TestFile {
  /** The id it was answered with. */
  readonly id: string;
}

/** A request as it arrived, refused ones included. */
export interface TestRequest {
  /** Its short name, or its id; absent when the method and the path are no operation's. */
  readonly operation?: TestOperation;
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** As it was sent, not decoded. */
  readonly path: string;
  /** As it was sent, without its question mark; absent where there is none. */
  readonly query?: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value of a JSON body; the text of one that is no JSON. */
  readonly body?: unknown;
  /** The file of an upload. */
  readonly file?: TestFile;
}

/** A deployment as far as the stand-in knows it. */
export interface TestDeployment {
  /** Its full resource name. */
  readonly name: string;
  /** The number it was last scaled to. */
  readonly replicaCount: number;
}

/** A dataset as far as the stand-in knows it. */
export interface TestDataset {
  /** Its full resource name. */
  readonly name: string;
  /** What was uploaded to it, in that order. */
  readonly files: readonly TestStoredFile[];
}

/**
 * What becomes of a request instead of its answer. One of `status` or `code`, `reset`, `stall` and `truncate`; or
 * `delayMs`, which goes with each of them and alone.
 */
export interface ScriptedFailure {
  /** How many requests meet it; `Infinity` for all. @default 1 */
  times?: number | undefined;
  /** Answer with this HTTP status. @default the status of `code` */
  status?: number | undefined;
  /** Name this code in the body. Without it the body names none, as when a proxy answers. */
  code?: Exclude<Code, "OK"> | undefined;
  /** The message in the body. */
  message?: string | undefined;
  /** The header `Retry-After`, in seconds. */
  retryAfter?: number | undefined;
  /** Headers added to the answer. */
  headers?: Readonly<Record<string, string>> | HeadersLike | undefined;
  /** The whole body instead of code and message: a string is sent as it is, any other value as JSON. */
  body?: unknown;
  /** Break the connection instead of answering. */
  reset?: boolean | undefined;
  /** Never answer. */
  stall?: boolean | undefined;
  /** Send the headers and the first half of the real answer, then break the connection. The operation is carried out. */
  truncate?: boolean | undefined;
  /** Wait this many milliseconds before what happens then. Alone, the real answer comes late. */
  delayMs?: number | undefined;
  /** Carry the operation out all the same: its answer is lost. @default true only for `truncate` and for `delayMs` alone */
  executes?: boolean | undefined;
}

/** The platform's `Response` where there is one. */
export type TestResponse = typeof globalThis extends { Response: { prototype: infer R } } ? R : FetchResponse;

/** The stand-in as a `fetch` function: for `createClient`, or for any other client. */
export type TestFetch = (
  input: string | { readonly href: string } | { readonly url: string },
  init?: object,
) => Promise<TestResponse>;

/** The stand-in on a port. */
export interface TestServer {
  /** Its base URL. */
  readonly url: string;
  /** Stops it, open connections included. */
  close(): Promise<void>;
}

/** A stand-in for the service, made by {@link createTestService}. */
export interface TestService {
  /** Answers without a network. The host of the URL does not matter. */
  readonly fetch: TestFetch;
  /**
   * Answers over a real port of this machine. Needs node:http: Node, Bun or Deno.
   *
   * @param options The port and the host; any free port of `127.0.0.1` unless given.
   */
  listen(options?: ListenOptions): Promise<TestServer>;
  /** The requests so far, in the order they were received whole. */
  readonly requests: readonly TestRequest[];
  /** Jobs by their full resource name, those that were asked for. */
  readonly jobs: ReadonlyMap<string, ReinforcementFineTuningJob>;
  /** Deployments by their full resource name, those that were asked for. */
  readonly deployments: ReadonlyMap<string, TestDeployment>;
  /** Datasets by their full resource name, those that were asked for. */
  readonly datasets: ReadonlyMap<string, TestDataset>;
  /**
   * Scripts what becomes of the next requests of an operation. Scripts of one operation are used up in the order
   * they were made.
   *
   * @param operation Whose requests it is for.
   * @param failure What becomes of them, and of how many.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` for a script that means nothing.
   * @example service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 });
   */
  fail(operation: TestOperation, failure: ScriptedFailure): void;
  /**
   * Scripts the good answer of an operation, until `reset`. What the service would refuse is refused as before, and
   * what the operation changes is changed.
   *
   * @param operation Whose answer it is.
   * @param value An object where it answers with JSON, a string with text, a string or a Uint8Array with bytes.
   * @throws StatusError `INVALID_ARGUMENT` for a value that the operation never answers with.
   * @example service.answer("rerank", { object: "list", model: "m", data: [{ index: 1, relevance_score: 0.9 }] });
   */
  answer(operation: TestOperation, value: unknown): void;
  /** Forgets requests, scripts and everything that calls have changed. */
  reset(): void;
}

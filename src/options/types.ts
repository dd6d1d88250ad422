// The public types of the options of a client and of a call, and of their results.
import type { Attempt, Executed, OperationName, Target } from "../errors/codes.js";
import type { RerankUsage } from "../generated/types.js";

/** What the client uses of an `AbortSignal`. Every `AbortSignal` fits. */
export interface AbortSignalLike {
  /** Whether the signal is aborted already: the call then sends nothing. */
  readonly aborted: boolean;
  /** Why the signal was aborted: becomes the `cause` of the call's error. */
  readonly reason?: unknown;
  /**
   * Adds a listener.
   * @param type The one event that is listened for.
   * @param listener Called once, when the signal is aborted.
   */
  addEventListener(type: "abort", listener: () => void): void;
  /**
   * Removes a listener when the call has ended.
   * @param type The one event that was listened for.
   * @param listener The function that was added.
   */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Headers with `get` and `forEach`: the platform's `Headers`, a `Map` of texts, and others with these methods. */
export interface HeadersLike {
  /**
   * The text of a header.
   * @param name The header's name.
   */
  get(name: string): unknown;
  /**
   * Calls back with each header.
   * @param callback Called with the text and the name of each header.
   */
  forEach(callback: (text: string | undefined, name: string) => void): void;
}

/** Options of one call, always the last argument. They take precedence over the client's options. */
export interface CallOptions {
  /** Cancels the call, whatever it is doing: it rejects with `CANCELLED`. */
  signal?: AbortSignalLike | undefined;
  /**
   * Milliseconds for the whole call: every attempt, wait and body; then it rejects with `DEADLINE_EXCEEDED`. Greater
   * than 0. @default rerank 60,000; resume and scale 30,000; upload 60,000 + 1,000 for each 256 KiB
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds for one attempt, from connecting to the last byte of its response. Greater than 0.
   * @default half of timeoutMs if a retry is safe, else all of timeoutMs
   */
  attemptTimeoutMs?: number | undefined;
  /**
   * The maximum number of retries: 0, 1 or 2. It can lower the number that a failure has, not raise it: to try for
   * longer, use `rerankAll` or a job queue. @default 2
   */
  maxRetries?: number | undefined;
  /** Whether this call is idempotent, whatever its operation is: `true` retries it like rerank, `false` like resume. */
  idempotent?: boolean | undefined;
  /**
   * Called after each attempt; it never gets a key or a body. The call does not wait for this function, and ignores
   * what it throws and, if it is async, its rejection.
   */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
  /** The account for this call, instead of the client's. */
  accountId?: string | undefined;
  /**
   * Headers added to this call's requests: an object of names and values, `Headers`, a `Map` or a list of pairs. The
   * values of a repeated name are joined by ", ". Headers that the client sets, such as `authorization`, are not
   * allowed.
   */
  headers?:
    | Readonly<Record<string, string | undefined>>
    | HeadersLike
    | readonly (readonly [name: string, text: string | undefined])[]
    | undefined;
}

/** The argument of {@link CallOptions.onAttempt}: an attempt that has ended. */
export interface AttemptEvent extends Attempt, Target {
  /** Milliseconds until the next attempt; absent when there is none. */
  readonly waitMs?: number;
}

/** A call's value together with the HTTP response that it came in. */
export interface CallResponse<T> {
  /** The value that the call resolves to without `withResponse()`. */
  readonly data: T;
  /** The response's `x-request-id`, else `request-id`, when it had one. */
  readonly requestId?: string;
  /** The response's status. */
  readonly httpStatus: number;
  /** The response's headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Every HTTP request this call made; the last one succeeded. */
  readonly attempts: readonly Attempt[];
}

/** A running call: await it for its value. */
export interface CallPromise<T> extends Promise<T> {
  /** Resolves to the value together with the response's status, headers and request id. */
  withResponse(): Promise<CallResponse<T>>;
}

/** Numbers and names that describe a call in traces: never a key, a body or a response. */
export interface TraceDetails {
  /** The model that a rerank asks for; once the call has ended, the model that ranked. */
  model?: string | undefined;
  /** How many documents are ranked. */
  documents?: number | undefined;
  /** How many requests the documents are ranked in, if there are several: each is a call within this call. */
  batches?: number | undefined;
  /** The tokens used; set once a rerank has succeeded. */
  usage?: RerankUsage | undefined;
}

/** What subscribers of the tracing channel `tunerank.call` receive: no key, and no body except that of an `error`. */
export interface CallTrace extends Partial<Target>, TraceDetails {
  /** The operation's id in the contract; `request` for `client.request`. */
  readonly operation: OperationName;
  /** Every HTTP request of the call; set once the call has ended. */
  attempts?: readonly Attempt[];
  /** The call's error; set once it has failed. A call that fails before its request is ready lacks a target. */
  error?: unknown;
}

/**
 * What subscribers of the tracing channel `tunerank.attempt` receive, without headers. Only the target and the number
 * are set before the attempt has ended.
 */
export interface AttemptTrace extends Target, Partial<Omit<Attempt, "headers">> {
  /** The attempt's number within its call: 1 for the first. */
  readonly number: number;
  /** `https`, or `http` where that is allowed. */
  readonly scheme: string;
}

/** Where the API key comes from: a string, or a function called for every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** A `fetch` function: the platform's, or one with its signature. */
export type FetchLike = (url: string, init: never) => Promise<FetchResponse>;

/** What the client reads of a `fetch` function's response. Every `Response` fits. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers: the callback gets the value and name of each. */
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  /** A stream of the body, a web `ReadableStream` or Node's; null when there is none. */
  readonly body?: unknown;
  /** Reads the whole body as bytes; used if there is no stream, as in React Native. */
  arrayBuffer?(): Promise<ArrayBuffer>;
  /** Reads the whole body as text; used if there is no stream and the body is text. */
  text?(): Promise<string>;
}

/** What the client uses of a dispatcher of the package undici: its Pool, Agent, ProxyAgent, MockAgent and more fit. */
export interface DispatcherLike {
  /**
   * Sends a request.
   * @param options What to send.
   * @param handler Receives the response.
   */
  dispatch(options: never, handler: never): boolean;
}

/** Which attempts are logged: see {@link ClientOptions.logLevel}. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/**
 * An attempt for a log: the fields of {@link AttemptEvent} except `headers`, the log line, each id in the path, such as
 * `dataset: "reviews"`, and of the bodies numbers (`top_n`), lengths of lists and names (`model`), but no text (`query`).
 */
export interface LogRecord extends Omit<AttemptEvent, "cause" | "host" | "headers"> {
  /** The line that a logger with methods gets. */
  readonly message: string;
  /** Whether the operation ran; set if the attempt failed. */
  readonly executed?: Executed;
  /** The tokens used, if the response counts them. */
  readonly tokens?: number;
  /** The host, with its port; set at the level `debug`. */
  readonly host?: string;
  /** The network's error message; set at the level `debug`. */
  readonly cause?: string;
  /** The body that was sent, with the API key redacted. Only with the option `logBodies`. */
  readonly request?: string;
  /** The body of the response, with the API key redacted. Only with the option `logBodies`. */
  readonly response?: string;
  /** The fields of the operation. */
  readonly [field: string]: unknown;
}

/**
 * A logger as a function that receives fields.
 * @param level The severity, as the name of a logger's method.
 * @param record The attempt; its `message` is the log line.
 * @example const logger: LogFunction = (level, record) => log[level](record, record.message); // pino, bunyan
 */
export type LogFunction = (level: "error" | "warn" | "info", record: LogRecord) => unknown;

/**
 * The methods that a logger must have; `console` and the loggers of pino and winston have them. Each gets one line:
 * `info` of a success, `warn` of a failure that is retried, `error` of one that ends a call, `debug` of details.
 */
export interface LoggerLike
  extends Readonly<Record<"debug" | "info" | "warn" | "error", (message: string) => unknown>> {}

/** Options of `createClient`. */
export interface ClientOptions extends Omit<CallOptions, "signal" | "idempotent"> {
  /** The service's address, such as `https://api.example.com`. @default TUNERANK_BASE_URL */
  baseUrl?: string | undefined;
  /** The API key, sent as `Authorization: Bearer` (the security scheme of the OpenAPI document). @default TUNERANK_API_KEY */
  apiKey?: ApiKey | undefined;
  /** The account whose resources the calls use; rerank needs none. @default TUNERANK_ACCOUNT_ID */
  accountId?: string | undefined;
  /** The reranker model used when a rerank body names none. @default TUNERANK_RERANK_MODEL */
  rerankModel?: string | undefined;
  /**
   * Milliseconds to reach the service: name lookup, connecting, the tunnel through a proxy, TLS. Greater than 0. Node
   * only. @default 10,000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * The maximum number of sockets open at once; further calls wait for a free one. Clients with the same address and
   * options share their sockets. Node only. @default 128
   */
  maxConnections?: number | undefined;
  /**
   * Milliseconds that an idle socket stays open for another call. It may be up to 25 % longer, or less if the server
   * announces less. 0 closes the socket at once. Resumes and uploads always use a new connection. Node only.
   * @default 4,000
   */
  keepAliveMs?: number | undefined;
  /**
   * An agent of Node's `http` module (of `https` if the base URL is https), for your own proxies and TLS.
   * The agent's limits replace `maxConnections` and `keepAliveMs`, and you have to close the agent. Node only.
   */
  agent?: object | undefined;
  /**
   * A dispatcher of undici 7 or 8: a `Pool`, an `Agent`, a `ProxyAgent`, or one composed with interceptors.
   * It decides about connections, proxies, HTTP/2, the time to connect and its own retries, and you close it. Not
   * together with `agent`, `fetch`, `proxy`, `connectTimeoutMs`, `keepAliveMs` and `maxConnections`. Node only.
   */
  dispatcher?: DispatcherLike | undefined;
  /**
   * The URL of an http or https proxy, with its user name and password. `"env"` reads `https_proxy`, `all_proxy` and
   * `no_proxy`, in lower or upper case, and `http_proxy`, in lower case only, as curl does. Every connection is a tunnel
   * (CONNECT). The default port is 1080, or 443 for https. This machine is never reached through it. Node only.
   * @default no proxy
   */
  proxy?: string | undefined;
  /**
   * Receives a line for each attempt: `console`, or a logger of pino, winston and others, whose methods get one string.
   * A function receives the level, and a record of the line and its fields. @default stderr
   */
  logger?: LoggerLike | LogFunction | undefined;
  /**
   * Which attempts are logged: those that end a call in failure (`error`), all that failed (`warn`), or all (`info`;
   * `debug` adds the host and the network's error). A line has operation, path, attempt, status, code, request id,
   * milliseconds and the wait before a retry, never a key.
   * @default TUNERANK_LOG; else `info` if you pass a `logger`, else `off`
   */
  logLevel?: LogLevel | undefined;
  /** Add the bodies of requests and responses to the log lines, without the key. A file is left out. @default false */
  logBodies?: boolean | undefined;
  /** Added to the end of the `User-Agent` header. Browsers ignore it. */
  userAgent?: string | undefined;
  /**
   * The function that sends requests, such as the platform's `fetch`. Without a response from it, a call fails with
   * `INTERNAL` and is not retried. With functions other than those of Node, undici and Bun, an upload can succeed
   * although the server responded before it had the whole file: use `verifyBytes`. node-fetch cannot upload a path.
   */
  fetch?: FetchLike | undefined;
  /** Allow plain http to another machine; only for a network that is itself trusted. @default false */
  allowInsecureHttp?: boolean | undefined;
  /** Allow use in a browser, where every visitor can read the key. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
}

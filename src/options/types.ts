// What people read of the options of a client and a call, and of what they get back.
import type { Attempt, Executed, OperationName, Target } from "../errors/codes.js";
import type { RerankUsage } from "../generated/types.js";

/** Any `AbortSignal`. */
export interface AbortSignalLike {
  /** Whether it is aborted already: the call then sends nothing. */
  readonly aborted: boolean;
  /** Why it was aborted: the `cause` of the call's error. */
  readonly reason?: unknown;
  /**
   * Adds a listener for the abort.
   *
   * @param type The one event that is listened for.
   * @param listener Called once, when it aborts.
   */
  addEventListener(type: "abort", listener: () => void): void;
  /**
   * Removes a listener when the call has ended.
   *
   * @param type The one event that was listened for.
   * @param listener The function that was added.
   */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The platform's `Headers`, a `Map` of texts, and others of their shape. */
export interface HeadersLike {
  /**
   * The text of a header.
   *
   * @param name Its name.
   */
  get(name: string): unknown;
  /**
   * Calls back with each header.
   *
   * @param callback Called with its text and its name.
   */
  forEach(callback: (text: string | undefined, name: string) => void): void;
}

/** What one call may set for itself: always the last argument. */
export interface CallOptions {
  /** Cancels the call, whatever it is doing: it rejects with `CANCELLED`. */
  signal?: AbortSignalLike | undefined;
  /**
   * Milliseconds for the whole call: every attempt, wait and body. Greater than 0.
   * When it runs out the call rejects with `DEADLINE_EXCEEDED`.
   * @default rerank 60,000; resume and scale 30,000; upload 60,000 + 1,000 for each 256 KiB
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds for one attempt, from connecting to the last byte of its response. Greater than 0.
   * @default half of timeoutMs where a retry is safe, else all of it
   */
  attemptTimeoutMs?: number | undefined;
  /**
   * The most retries of the request, where a retry is allowed. A whole number; 0 means one request.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Whether this call is safe to send twice, when you know better than the contract's `x-retry`: with true it is retried
   * as a `read` is, with false as a `start` is.
   */
  idempotent?: boolean | undefined;
  /**
   * Called after each attempt. It never sees a key or a body. The call does not wait for it, and ignores what it throws,
   * also as the rejection of an async function.
   */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
  /** The account for this call, instead of the client's. */
  accountId?: string | undefined;
  /**
   * Headers added to this call's request: an object of names and texts, `Headers`, a `Map` or pairs. A name that pairs
   * have twice has its texts joined by ", ". The client's own (such as `authorization`) cannot be set.
   */
  headers?:
    | Readonly<Record<string, string | undefined>>
    | HeadersLike
    | readonly (readonly [name: string, text: string | undefined])[]
    | undefined;
}

/** What {@link CallOptions.onAttempt} is called with. */
export interface AttemptEvent extends Attempt, Target {
  /** Milliseconds until the next attempt; absent when there is none. */
  readonly waitMs?: number;
}

/** The response of one call, with what HTTP said around it. */
export interface CallResponse<T> {
  /** What the call alone resolves to. */
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

/** What a call is about, in numbers and names: never a key, a body or a response. */
export interface TraceDetails {
  /** The model that a rerank asks for; once it has ended, the one that answered. */
  model?: string | undefined;
  /** How many documents are ranked. */
  documents?: number | undefined;
  /** How many requests they are ranked in, when there are several: each is a call of its own within this one. */
  batches?: number | undefined;
  /** The tokens used; there once a rerank has succeeded. */
  usage?: RerankUsage | undefined;
}

/** What subscribers of the tracing channel `tunerank.call` get: never a key, a body or a response. */
export interface CallTrace extends Partial<Target>, TraceDetails {
  /** The operation's id in the contract; `request` for `client.request`. */
  readonly operation: OperationName;
  /** Every HTTP request of the call; there once it has ended. */
  attempts?: readonly Attempt[];
  /** Why it failed; there once it has failed. What is refused before a request is ready has no method, path and host. */
  error?: unknown;
}

/**
 * What subscribers of the tracing channel `tunerank.attempt` get, without headers; all but the target and number once it
 * has ended.
 */
export interface AttemptTrace extends Target, Partial<Omit<Attempt, "headers">> {
  /** 1 for the first. */
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
  /** The whole body's bytes: read where there is no stream, as in React Native. */
  arrayBuffer?(): Promise<ArrayBuffer>;
  /** The whole body as text: read where there is no stream, if it is text. */
  text?(): Promise<string>;
}

/** What the client uses of a dispatcher of the package undici. Its Pool, Agent, ProxyAgent and MockAgent fit, among others. */
export interface DispatcherLike {
  /**
   * Sends a request.
   *
   * @param options What to send.
   * @param handler What hears of the response.
   */
  dispatch(options: never, handler: never): boolean;
}

/** How much is logged. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/**
 * An attempt for a log: the fields of {@link CallOptions.onAttempt} but for `headers`, the line, and the numbers and names of the request
 * and response. Of an operation of the contract these are each id in its path (`dataset: "reviews"`), and each field of
 * its body that is a number (`replicaCount`), a list, by its length (`documents`), or a name (`model`), but no text such
 * as `query`.
 */
export interface LogRecord extends Omit<AttemptEvent, "cause" | "host" | "headers"> {
  /** The line that a logger with methods gets. */
  readonly message: string;
  /** Of an attempt that failed: whether the operation ran. */
  readonly executed?: Executed;
  /** The tokens that were used, where the response counts them. */
  readonly tokens?: number;
  /** The host, with its port; with the level `debug`. */
  readonly host?: string;
  /** What the network reported; with the level `debug`. */
  readonly cause?: string;
  /** The body that was sent, without the key; with `logBodies`. */
  readonly request?: string;
  /** The body of the response, without the key; with `logBodies`. */
  readonly response?: string;
  /** The ids, numbers, lengths and names of the operation's own. */
  readonly [field: string]: unknown;
}

/**
 * A logger that takes fields.
 *
 * @param level The method of a logger that it is meant for.
 * @param record The attempt; its `message` is the line.
 * @example const logger: LogFunction = (level, record) => log[level](record, record.message); // pino, bunyan
 */
export type LogFunction = (level: "error" | "warn" | "info", record: LogRecord) => unknown;

/** The methods of a logger that are used; `console` and the loggers of pino and winston have them. */
export interface LoggerLike {
  /**
   * Logs what only helps to find a fault.
   *
   * @param message One line.
   */
  debug(message: string): unknown;
  /**
   * Logs a success.
   *
   * @param message One line.
   */
  info(message: string): unknown;
  /**
   * Logs a failure that is retried.
   *
   * @param message One line.
   */
  warn(message: string): unknown;
  /**
   * Logs a failure that ends the call.
   *
   * @param message One line.
   */
  error(message: string): unknown;
}

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<CallOptions, "signal" | "idempotent"> {
  /** The service's address, such as `https://api.example.com`. @default TUNERANK_BASE_URL */
  baseUrl?: string | undefined;
  /** The API key, sent as `Authorization: Bearer` (the contract's security scheme). @default TUNERANK_API_KEY */
  apiKey?: ApiKey | undefined;
  /** The account whose resources are meant; rerank needs none. @default TUNERANK_ACCOUNT_ID */
  accountId?: string | undefined;
  /** The reranker model used when a rerank body names none. @default TUNERANK_RERANK_MODEL */
  rerankModel?: string | undefined;
  /**
   * Milliseconds to reach the service: name lookup, connecting, the tunnel through a proxy, TLS. Greater than 0.
   * Node only.
   * @default 10,000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * The most sockets open at once; further calls wait for one. Clients of the same address and options share their
   * sockets. Node only.
   * @default 128
   */
  maxConnections?: number | undefined;
  /**
   * Milliseconds that an idle socket stays open for another call, up to a quarter more; less where the server announces
   * less (`Keep-Alive: timeout=...`). 0 closes it at once. Resumes and uploads always use a new connection. Node only.
   * @default 4,000
   */
  keepAliveMs?: number | undefined;
  /**
   * An agent of Node's `http` module (of `https` if the base URL is https), for your own proxies and TLS.
   * Its limits apply instead of `maxConnections` and `keepAliveMs`, and you have to close it. Node only.
   */
  agent?: object | undefined;
  /**
   * A dispatcher of the package undici, 6, 7 or 8: a `Pool`, an `Agent`, a `ProxyAgent`, or one composed with
   * interceptors. Connections, proxies, HTTP/2, the time to connect and what it repeats by itself are its own, and you
   * have to close it. Not together with `agent`, `fetch`, `proxy`, `connectTimeoutMs`, `keepAliveMs` and
   * `maxConnections`. Node only.
   */
  dispatcher?: DispatcherLike | undefined;
  /**
   * The URL of an http or https proxy, with its user name and password if it wants them, or `"env"`: `https_proxy`,
   * `all_proxy` and `no_proxy`, also in capitals, and `http_proxy`, read as curl reads them. Every connection is a tunnel
   * (CONNECT). The default port is 1080, or 443 for https. This machine is never reached through it. Node only.
   * @default no proxy
   */
  proxy?: string | undefined;
  /**
   * Where a line for each attempt goes: `console`, or a logger of pino, winston and others, whose methods get one string.
   * A function gets the level, and the line with its fields. @default stderr
   */
  logger?: LoggerLike | LogFunction | undefined;
  /**
   * Which attempts have a line: those that end a call in failure (`error`), all that failed (`warn`), or all (`info`;
   * `debug` adds the host and what the network reported). A line has the operation, the path, the attempt's number,
   * status, code, request id, milliseconds, and the wait before the next. It never has a key.
   * @default TUNERANK_LOG; else `info` where there is a logger, and `off` where there is none
   */
  logLevel?: LogLevel | undefined;
  /** Add the bodies of requests and responses to the lines, without the key. A file is left out. @default false */
  logBodies?: boolean | undefined;
  /** Added to the end of the `User-Agent` header. Browsers ignore it. */
  userAgent?: string | undefined;
  /**
   * Send with this function instead of the platform's own transport: the platform's `fetch`, undici's, node-fetch, React
   * Native's, or your own. One that gives no response is `INTERNAL`, and not retried. Most hide a response that came
   * before the whole file of an upload was sent, which then looks like a success; those of Node, undici and Bun show it.
   * node-fetch cannot upload from a path.
   */
  fetch?: FetchLike | undefined;
  /** Allow plain http to a machine other than this one, where the network itself is trusted. @default false */
  allowInsecureHttp?: boolean | undefined;
  /** Allow use in a browser, where every visitor can read the key. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** @internal Each has the lines of those before it, too. */
export const logLevels: readonly LogLevel[] = ["off", "error", "warn", "info", "debug"];

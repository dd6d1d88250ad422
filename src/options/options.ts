import type { Attempt, Target } from "../errors/statusError.js";
import type { Names } from "./names.js";

/** Any `AbortSignal`. */
export interface AbortSignalLike {
  /** Whether it is aborted already: the call then sends nothing. */
  readonly aborted: boolean;
  /** Why it was aborted: the `cause` of the call's error. */
  readonly reason?: unknown;
  /**
   * Tells when it is aborted.
   *
   * @param type The one event that is listened for.
   * @param listener Called once, then.
   */
  addEventListener(type: "abort", listener: () => void): void;
  /**
   * Takes a listener away when the call has ended.
   *
   * @param type The one event that was listened for.
   * @param listener The function that was added.
   */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What one call may set for itself: always the last argument. */
export interface CallOptions {
  /** Cancels the call in every phase: it rejects with `CANCELLED`. */
  signal?: AbortSignalLike | undefined;
  /**
   * Milliseconds for the whole call: every attempt, wait and body. Greater than 0.
   * When it runs out the call rejects with `DEADLINE_EXCEEDED`.
   * @default rerank 60,000; resume and scale 30,000; upload 60,000 + 1,000 for each 256 KiB
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds for one attempt, from connecting to the last byte of its answer. Greater than 0.
   * @default half of timeoutMs where a retry is safe, else all of it
   */
  attemptTimeoutMs?: number | undefined;
  /**
   * The most retries of the request, where a retry is allowed. A whole number; 0 means one request.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Whether sending this call twice does no more than sending it once, when you know better than the contract's
   * `x-retry-safe`: true lets it be retried as a rerank is, false only as a resume is.
   */
  repeatable?: boolean | undefined;
  /**
   * Called after each attempt. It never sees a key or a body. It is not waited for: what it throws is ignored, and so
   * is the rejection of an async function.
   */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
  /** The account for this call, instead of the client's. */
  accountId?: string | undefined;
  /** Headers added to this call's request. The client's own (such as `authorization`) cannot be set. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** @internal The names of {@link CallOptions}. */
export const callOptionNames: Names<CallOptions> = {
  signal: 1,
  timeoutMs: 1,
  attemptTimeoutMs: 1,
  maxRetries: 1,
  repeatable: 1,
  onAttempt: 1,
  accountId: 1,
  headers: 1,
};

/** What {@link CallOptions.onAttempt} is called with. */
export interface AttemptEvent extends Attempt, Target {
  /** Milliseconds until the next attempt; absent when there is none. */
  readonly waitMs?: number;
}

/** Where the API key comes from: a string, or a function called for every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** A `fetch` function: the platform's, or one with its signature. */
export type FetchLike = (url: string, init: never) => Promise<FetchResponse>;

/** What the client reads of a `fetch` function's answer. Every `Response` fits. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, each told by value and name. */
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  /** A web `ReadableStream` of the body, or null when there is none. */
  readonly body: unknown;
}

/** How much is logged. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** The methods of a logger that are used; `console` and the loggers of pino and winston have them. */
export interface LoggerLike {
  /**
   * Takes what only helps to find a fault.
   *
   * @param message One line.
   */
  debug(message: string): unknown;
  /**
   * Takes what went as it should.
   *
   * @param message One line.
   */
  info(message: string): unknown;
  /**
   * Takes what went wrong and is tried again.
   *
   * @param message One line.
   */
  warn(message: string): unknown;
  /**
   * Takes what went wrong and is not tried again.
   *
   * @param message One line.
   */
  error(message: string): unknown;
}

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<CallOptions, "signal" | "repeatable"> {
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
   * Milliseconds that an idle socket is kept for another call, up to a quarter more; less where the server announces
   * less (`Keep-Alive: timeout=...`). 0 keeps none. Resumes and uploads always take a new connection. Node only.
   * @default 4,000
   */
  keepAliveMs?: number | undefined;
  /**
   * An agent of Node's `http` module (of `https` where the base URL is https), for proxies and TLS of one's own.
   * Its own limits apply instead of `maxConnections` and `keepAliveMs`, and closing it is its owner's. Node only.
   */
  agent?: object | undefined;
  /**
   * The URL of an http or https proxy, with its user name and password where it wants them, or `"env"`: what
   * `https_proxy`, `all_proxy`, `no_proxy` and their forms in capitals say, read as curl reads them (`http_proxy` in
   * lower case only). Every connection is a tunnel (CONNECT). Without a port it is 1080, or 443 for https. This
   * machine's own addresses are never reached through it. Node only.
   * @default no proxy
   */
  proxy?: string | undefined;
  /**
   * Where a line for each attempt goes: `console`, or a logger of pino, winston and others. Each of its methods is given
   * one string. @default stderr
   */
  logger?: LoggerLike | undefined;
  /**
   * Which attempts have a line: those that end a call in failure (`error`), all that failed (`warn`), or all (`info`;
   * `debug` adds the host and what the network reported). A line has the operation, the path, the attempt's number,
   * status, code, request id, milliseconds, and the wait before the next. It never has a key.
   * @default TUNERANK_LOG; else `info` where there is a logger, and `off` where there is none
   */
  logLevel?: LogLevel | undefined;
  /** Add the bodies of requests and answers to the lines, without the key. A file is left out. @default false */
  logBodies?: boolean | undefined;
  /** Added to the end of the `User-Agent` header. Browsers do not let it be set. */
  userAgent?: string | undefined;
  /** Send with this function instead of the platform's own transport. */
  fetch?: FetchLike | undefined;
  /** Allow plain http to a machine other than this one, where the network itself is trusted. @default false */
  allowInsecureHttp?: boolean | undefined;
  /** Allow use in a browser, where every visitor can read the key. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** @internal The names of {@link ClientOptions}. */
export const clientOptionNames: Names<ClientOptions> = {
  baseUrl: 1,
  apiKey: 1,
  accountId: 1,
  rerankModel: 1,
  timeoutMs: 1,
  attemptTimeoutMs: 1,
  connectTimeoutMs: 1,
  maxRetries: 1,
  maxConnections: 1,
  keepAliveMs: 1,
  agent: 1,
  proxy: 1,
  headers: 1,
  logger: 1,
  logLevel: 1,
  logBodies: 1,
  userAgent: 1,
  onAttempt: 1,
  fetch: 1,
  allowInsecureHttp: 1,
  dangerouslyAllowBrowser: 1,
};

/** The answer of one call, with what HTTP said around it. */
export interface CallResponse<T> {
  /** What the call alone resolves to. */
  readonly data: T;
  /** The answer's `x-request-id`, else `request-id`, when it had one. */
  readonly requestId?: string;
  /** The answer's status. */
  readonly httpStatus: number;
  /** The answer's headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Every HTTP request this call made; the last one succeeded. */
  readonly attempts: readonly Attempt[];
}

/** A running call: await it for its value. */
export interface CallPromise<T> extends Promise<T> {
  /** Resolves to the value together with the answer's status, headers and request id. */
  withResponse(): Promise<CallResponse<T>>;
}

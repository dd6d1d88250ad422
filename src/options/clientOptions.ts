import type { CallOptions } from "./callOptions.js";
import type { Names } from "./validate.js";

/** Where the API key comes from: a string, or a function called for every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** A `fetch` function: the platform's, or one with its signature. */
export type FetchLike = (url: string, init: never) => Promise<FetchResponse>;

/** What the client reads of a `fetch` function's answer. Every `Response` fits. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers: the callback gets the value and name of each. */
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

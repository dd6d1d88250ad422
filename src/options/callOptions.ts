import type { Attempt, OperationName, Target } from "../errors/codes.js";
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
}

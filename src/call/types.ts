// The types of a call, from its specification to its outcome.
import type { Attempt, OperationName } from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import type { Multipart } from "../files/multipart.js";
import type { ApiKey, AttemptEvent, CallOptions, ClientOptions } from "../options/types.js";
import type { Ran } from "../policy/retry.js";
import type { Lane } from "../policy/run.js";
import type { Redact } from "../redact/redact.js";
import type { Transport, TransportResponse } from "../transport/exchange.js";
import type { Deadline } from "../transport/time.js";
import type { ResponseReader } from "./response.js";

/** One call of an operation of the contract. */
export interface CallSpec<T> {
  /** The ids in the path by their parameter names, without the account id; undefined if the path has none. */
  readonly ids: Readonly<Record<string, unknown>> | undefined;
  /** The request body, to be written as JSON; undefined for a request without a body. */
  readonly body: object | undefined;
  readonly read: ResponseReader<T>;
}

/** A call as an HTTP request, without the headers that every request has. */
export interface PreparedRequest<T> {
  readonly operation: OperationName;
  /** The ids in the path by their parameter names; undefined for `client.request`. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly body: string | Uint8Array | undefined;
  /** The whole request, where that takes a while: a file is opened, or a module is loaded. */
  readonly whole?: Promise<PreparedRequest<T>> | undefined;
  /** The form with a file that is sent in place of `body`. */
  readonly form: Multipart | undefined;
  readonly contentType: string | undefined;
  readonly maxResponseBytes: number;
  /** Unless the call's options say; undefined for the operation's own. */
  readonly timeoutMs?: number | undefined;
  readonly idempotent?: boolean | undefined;
  readonly read: ResponseReader<T>;
  /** The request body as a value, before it was written as JSON; for traces and logs. */
  readonly content: unknown;
}

/** A client's settings: its options, its connection to the service, and the defaults of its calls. */
export interface ClientSettings extends Readonly<Omit<ClientOptions, "headers">> {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  readonly transport: Transport;
  /** The retry budget that is left, in tenths of a retry; shared with clients made from this one with `withOptions`. */
  readonly budget: { left: number };
  /** The deadlines of this client's running calls. */
  readonly calls: Deadline[];
  /** Writes a log line for each attempt; false if the options turn logging off. */
  readonly log: Log | false | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The options of one call, checked and joined with its client's. A missing time is that of the operation. */
export interface CallSettings
  extends Readonly<
    Pick<CallOptions, "signal" | "timeoutMs" | "attemptTimeoutMs" | "idempotent" | "onAttempt" | "accountId">
  > {
  readonly client: ClientSettings;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Decides about the attempts of a call that is one of many (bulk, rerank.items); undefined for a single call. */
  readonly policy: Lane | undefined;
}

/** Writes the log line of an attempt, from its request and its result. */
export type Log = (
  event: AttemptEvent,
  exchange: {
    readonly request: PreparedRequest<unknown>;
    readonly result: Received<unknown> | Failure;
    readonly redact: Redact;
  },
) => void;

/** A call's value, and the response it was read from. */
export interface Received<T> {
  readonly data: T;
  readonly response: TransportResponse;
  /** The texts that the call redacts. Most calls show no text of a response, so they never make a redactor. */
  readonly secrets: readonly string[];
}

/** A call's value and response, with the attempts that it took. */
export interface Outcome<T> extends Omit<Received<T>, "secrets"> {
  attempts(): readonly Attempt[];
}

/** The state of a running call. */
export interface RunningCall<T> {
  readonly settings: CallSettings;
  readonly request: PreparedRequest<T>;
  /** What its options or its request say. */
  readonly idempotent: boolean | undefined;
  readonly deadline: Deadline;
  readonly attempts: Attempt[];
  /** Whether the operation ran, from all attempts together. */
  ran: Ran;
  /** Every API key that the call's attempts used. */
  readonly keys: string[];
  /** Whether the next attempt must use a new connection. */
  freshSocket: boolean;
  /** Whether the call has made a retry that cost no budget. Outside a run, a call has only one such retry. */
  retriedFree: boolean;
}

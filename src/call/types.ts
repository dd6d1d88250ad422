// The nouns of a call, from what is asked for to what comes of it.
import type { Attempt, OperationName } from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import type { OperationId } from "../generated/contract.js";
import type { AbortSignalLike, ApiKey, AttemptEvent, CallOptions } from "../options/types.js";
import type { Ran } from "../policy/retry.js";
import type { Lane } from "../policy/schedule.js";
import type { Redact } from "../redact/redact.js";
import type { Transport, TransportResponse } from "../transport/exchange.js";
import type { Body } from "../transport/transport.js";
import type { Deadline } from "./deadline.js";

/** Makes a call's value of a whole response, or says why it cannot. */
export type ResponseReader<T> = (response: TransportResponse, secrets: readonly string[]) => T | Failure;

/** One call of an operation of the contract. */
export interface CallSpec<T> {
  readonly operation: OperationId;
  /** The ids in its path, by the names of the contract; its account is that of the call. @default nothing stands in it */
  readonly ids?: Readonly<Record<string, unknown>>;
  /** The query, its question mark included. */
  readonly query?: string;
  /** Headers of its own, besides those of the options. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  /** That body as JSON that is written already: it is sent as it is. */
  readonly json?: string | undefined;
  readonly read: ResponseReader<T>;
}

/** The same as HTTP has it, but for the headers of every call. */
export interface PreparedRequest<T> {
  readonly operation: OperationName;
  /** Those in the path of an operation of the contract, by the names of their parameters. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly body: Body;
  /** The media type of the body; undefined when there is none. */
  readonly contentType: string | undefined;
  readonly maxResponseBytes: number;
  readonly read: ResponseReader<T>;
  /** The body before it was written, for traces. */
  readonly content: unknown;
}

/** What a client was made with: its connection to the service, and what its calls do by default. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  readonly transport: Transport;
  /** What may still be spent on retries, in tenths of one; shared with the clients made of this one. */
  readonly budget: { left: number };
  /** Its own calls that are in flight. */
  readonly calls: Set<Deadline>;
  /** What writes a line for each attempt; false where the options turn that off. */
  readonly log: Log | false | undefined;
  readonly accountId: string | undefined;
  readonly rerankModel: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
}

/** The options of one call, checked and joined with its client's. */
export interface CallSettings {
  readonly client: ClientSettings;
  readonly signal: AbortSignalLike | undefined;
  /** Undefined for the operation's own deadline. */
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly idempotent: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
  readonly accountId: string | undefined;
  /** What decides over its attempts, where it is one of many; else this client does. */
  readonly policy: Lane | undefined;
}

/** Writes the line of an attempt, of what was sent and came. */
export type Log = (
  event: AttemptEvent,
  exchange: {
    readonly request: PreparedRequest<unknown>;
    readonly result: Answered<unknown> | Failure;
    readonly redact: Redact;
  },
) => void;

/** A call's value, and the response it was read from. */
export interface Answered<T> {
  readonly data: T;
  readonly response: TransportResponse;
  /** What its headers may not show. */
  readonly secrets: readonly string[];
}

/** The same with the attempts it took. */
export interface Outcome<T> extends Omit<Answered<T>, "secrets"> {
  readonly attempts: readonly Attempt[];
}

/** A call on its way. */
export interface RunningCall<T> {
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly request: PreparedRequest<T>;
  readonly timeoutMs: number;
  readonly deadline: Deadline;
  readonly attempts: Attempt[];
  /** What its attempts tell together. */
  ran: Ran;
  /** The key of the attempt under way. */
  key: string;
  /** All that its attempts were sent with. */
  readonly keys: string[];
  /** Whether the next attempt needs a connection of its own. */
  freshSocket: boolean;
  /** Whether a retry has been made that cost no budget. */
  retriedFree: boolean;
}

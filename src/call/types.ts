// The nouns of a call, from what is asked for to what comes of it.
import type { Attempt, OperationName } from "../errors/details.js";
import type { OperationId } from "../generated/contract.js";
import type { AbortSignalLike, AttemptEvent, CallOptions } from "../options/callOptions.js";
import type { ApiKey } from "../options/clientOptions.js";
import type { AttemptPolicy } from "../policy/types.js";
import type { Redact } from "../redact/redact.js";
import type { Body, Transport, TransportResponse } from "../transport/transport.js";
import type { Deadline } from "./deadline.js";
import type { Failure } from "./failure.js";

/** What a call asks of the service: an operation, the parameters of its path, its body. */
export interface OperationInput {
  readonly operation: OperationId;
  readonly path?: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The same as HTTP has it, but for the headers. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Body;
  /** The media type of the body; undefined when there is none. */
  readonly contentType: string | undefined;
  /** The most bytes of its answer. */
  readonly maxResponseBytes: number;
}

/** What a client may still spend on retries, in tenths of one. */
export interface RetryBudget {
  left: number;
}

/** What a client was made with: its connection to the service, and what its calls do by default. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  /** Shared with the clients made of this one, as the budget is. */
  readonly transport: Transport;
  readonly budget: RetryBudget;
  /** The calls under way, of all these clients. */
  readonly calls: Set<Deadline>;
  /** What writes a line for each attempt; false where the options turn that off. */
  readonly log: Log | false | undefined;
  readonly accountId: string | undefined;
  readonly rerankModel: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
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
  readonly repeatable: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
  readonly accountId: string | undefined;
  /** What decides over its attempts, where it is one of many; else this client does. */
  readonly policy: AttemptPolicy | undefined;
}

/** The bodies of an attempt, as they were sent and came. */
export interface LoggedBodies {
  readonly request: PreparedRequest["body"];
  readonly result: TransportResponse | Failure;
  readonly redact: Redact;
}

/** Writes the line of an attempt. */
export type Log = (event: AttemptEvent, bodies: LoggedBodies) => void;

/** A call's value, with the answer it was read from. */
export interface Outcome<T> {
  readonly data: T;
  readonly answer: TransportResponse;
  readonly attempts: readonly Attempt[];
}

/** What a call is for, and how its answer is read. */
export interface Purpose<T> {
  readonly operation: OperationName;
  readonly read: (answer: TransportResponse, secrets: readonly string[]) => T | Failure;
  /** What is sent, for traces. */
  readonly body: unknown;
}

/** A call on its way. */
export interface Run<T> {
  readonly client: ClientSettings;
  readonly call: Purpose<T>;
  readonly settings: CallSettings;
  readonly request: PreparedRequest;
  readonly timeoutMs: number;
  readonly deadline: Deadline;
  readonly attempts: Attempt[];
  /** The key of the last attempt. */
  key: string;
  /** Whether the next attempt needs a connection of its own. */
  freshSocket: boolean;
  /** Whether a retry has been made that cost no budget. */
  retriedFree: boolean;
}

/** An attempt that succeeded. */
export interface Success<T> {
  readonly data: T;
  readonly answer: TransportResponse;
}

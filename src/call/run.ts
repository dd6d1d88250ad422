import type { Attempt, OperationName } from "../errors/details.js";
import type { TraceDetails } from "../platform/tracing.js";
import type { TransportResponse } from "../transport/transport.js";
import type { Deadline } from "./deadline.js";
import type { Failure } from "./failure.js";
import type { PreparedRequest } from "./request.js";
import type { CallSettings, ClientSettings } from "./settings.js";

/** What a call is for, and how its answer is read. */
export interface Purpose<T> {
  readonly operation: OperationName;
  readonly read: (answer: TransportResponse, secrets: readonly string[]) => T | Failure;
  /** What is sent, for traces. */
  readonly body: unknown;
  /** What a trace has besides where the call goes; undefined where nothing is known of the body. */
  readonly describe: ((body: unknown, data?: unknown) => TraceDetails | undefined) | undefined;
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

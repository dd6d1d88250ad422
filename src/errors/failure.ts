// The record of a failed attempt.
import { WithoutPrototype } from "../values.js";
import {
  type CodeSource,
  type Executed,
  type ExecutedBecause,
  executedBecause,
  type NotRetried,
  type RetryEvent,
  type StatusCode,
  type StatusErrorDetails,
} from "./codes.js";

/**
 * A failed attempt, as a value. The code that sees the failure makes it; the retry decision, the log, traces and bulk
 * runs read it. A call's StatusError is made from its last failure. A failure inherits nothing, so that a polluted
 * Object.prototype cannot add fields.
 */
export class Failure extends WithoutPrototype implements StatusErrorDetails {
  declare readonly message: string;
  declare readonly code: StatusCode;
  declare readonly executed: Executed;
  declare readonly executedBecause: ExecutedBecause;
  /** @default "client" */
  declare readonly codeSource: CodeSource;
  /** Whether this client chose the code. @default true */
  declare readonly inferred?: boolean;
  /** The rows of policy/decisions.ts that fit. The one that allows the fewest retries counts. @default ["ended"] */
  declare readonly events: readonly RetryEvent[];
  declare readonly httpStatus?: number | undefined;
  declare readonly requestId?: string | undefined;
  declare readonly headers?: StatusErrorDetails["headers"];
  declare readonly retryAfterMs?: number | undefined;
  declare readonly body?: unknown;
  declare readonly hint?: string | undefined;
  declare readonly cause?: unknown;
  /** Why there is no retry, if the decision table does not tell. */
  declare readonly notRetried?: NotRetried;
  /** Whether the request was sent on a reused idle connection, and lost with the connection. @default false */
  declare readonly reusedSocket?: boolean | undefined;
  /** Whether a request was made at all. @default true */
  declare readonly requested?: boolean;

  constructor(seen: Pick<Failure, "message" | "code" | "executed"> & Partial<Failure>) {
    super();
    Object.assign(this, { codeSource: "client", events: ["ended"] }, seen);
    this.executedBecause ??= executedBecause(this.executed, this.httpStatus !== undefined);
  }
}

// What went wrong, as one record.
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
 * A failed attempt, as a value: made by whoever saw it fail, and read by the retry decision, the log, traces and runs. The
 * one StatusError of a call shows the last of them. It inherits nothing: a polluted prototype says nothing of what happened.
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
  /** With several, the one that allows fewest retries counts. @default ["ended"] */
  declare readonly events: readonly RetryEvent[];
  declare readonly httpStatus?: number | undefined;
  declare readonly requestId?: string | undefined;
  declare readonly headers?: StatusErrorDetails["headers"];
  declare readonly retryAfterMs?: number | undefined;
  declare readonly body?: unknown;
  declare readonly hint?: string | undefined;
  declare readonly cause?: unknown;
  /** Why there is no other attempt, where the decision table does not say it. */
  declare readonly notRetried?: NotRetried;
  /** Whether it was sent on a connection that had been idle, and lost with it. @default false */
  declare readonly reusedSocket?: boolean | undefined;
  /** Whether a request was made at all. @default true */
  declare readonly requested?: boolean;

  constructor(seen: Pick<Failure, "message" | "code" | "executed"> & Partial<Failure>) {
    super();
    Object.assign(this, { codeSource: "client", events: ["ended"] }, seen);
    this.executedBecause ??= executedBecause(this.executed, this.httpStatus !== undefined);
  }
}

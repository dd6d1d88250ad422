import { WithoutPrototype } from "../values.js";
import { type ExecutedBecause, executedBecause, type RetryEvent, type StatusErrorDetails } from "./codes.js";

/**
 * A failed attempt, as a value: a call's StatusError is made from its last failure. It inherits nothing, so that a polluted
 * Object.prototype cannot add fields. Its `codeSource` is `client` by default.
 */
export class Failure extends WithoutPrototype<StatusErrorDetails> {
  declare readonly message: string;
  declare readonly executedBecause: ExecutedBecause;
  /** The rows of policy/decisions.ts that fit. The one that allows the fewest retries counts. @default ["ended"] */
  declare readonly events: readonly RetryEvent[];
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

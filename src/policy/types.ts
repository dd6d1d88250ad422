// How a call is told what decides over its attempts, when it is one of many.
import type { Failure } from "../errors/failure.js";
import type { Decision, RetryState } from "./retry.js";

/** When an attempt began and ended, in milliseconds. */
export interface AttemptTimes {
  /** What the limiter's `begin` returned. */
  readonly epoch: number;
  readonly began: number;
  readonly now: number;
}

/** A call's time. */
export interface CallDeadline {
  /** Waits for `promise`; resolves to undefined as soon as the call is over. */
  during<T>(promise: Promise<T>): Promise<T | undefined>;
  /** Ends the call. */
  end(reason: "aborted"): void;
}

/**
 * Decides over the attempts of one call, whose first begins when the call does. Its retries cost the client's budget
 * nothing.
 */
export interface AttemptPolicy {
  /** The call begins; its time can end it. */
  begun?(time: CallDeadline): void;
  /** An attempt failed: whether there is another, and when. */
  decide(failure: Failure, state: RetryState): Decision;
  /** Waits until the next may begin, but no longer than the call lasts. */
  wait(ms: number, time: CallDeadline): Promise<void>;
}

/** The most connections that a client has at once, where it knows. */
export interface Connections {
  readonly maxConnections?: number | undefined;
}

/** What a run puts among the options of its calls, below {@link attemptPolicy}. */
export interface PolicyOption {
  /** The signal of a run that ends its calls itself: they need not listen to it. */
  readonly signal?: unknown;
  /** Called once the client can make the call. */
  admitted(connections: Connections): AttemptPolicy;
}

/**
 * Names that option; among a run's own options, `true` says that others send to the same service beside it, such as the
 * chunks of other workers. Registered: `tunerank` and `tunerank/bulk` are files of their own.
 */
export const attemptPolicy: unique symbol = Symbol.for("tunerank.policy") as never;

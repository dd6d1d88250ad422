// What a call and its run tell each other of an attempt.

/** When an attempt began and ended, in milliseconds. */
export interface AttemptTimes {
  /** What the limiter's `begin` returned. */
  readonly epoch: number;
  readonly began: number;
  readonly ended: number;
}

/** A call's time. */
export interface CallDeadline {
  /** Waits for `promise`; resolves to undefined as soon as the call is over. */
  during<T>(promise: Promise<T>): Promise<T | undefined>;
  /** Ends the call. */
  end(reason: "aborted"): void;
}

/**
 * Names the option under which a run puts the lane of a call among the call's options; among a run's own options, `true`
 * says that other processes send to the same service, such as the workers that have the other chunks. Registered:
 * `tunerank` and `tunerank/bulk` are files of their own.
 */
export const attemptPolicy: unique symbol = Symbol.for("tunerank.policy") as never;

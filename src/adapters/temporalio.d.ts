// What is used of Temporal's packages. They are optional peers: nobody who does not use them need install them.

declare module "@temporalio/activity" {
  export class ApplicationFailure extends Error {
    static create(options: {
      message: string;
      type: string;
      nonRetryable: boolean;
      nextRetryDelay?: number | undefined;
      details: unknown[];
      cause?: Error;
    }): ApplicationFailure;
  }

  export class CancelledFailure extends Error {
    constructor(message: string, details: unknown[]);
  }

  export class Context {
    static current(): Context;
    readonly info: import("./temporalCall.js").ActivityInfo;
    readonly cancellationSignal: import("../options/types.js").AbortSignalLike;
    readonly heartbeat: (details?: unknown) => void;
  }
}

declare module "@temporalio/workflow" {
  export function proxyActivities<A>(options: {
    taskQueue?: string | undefined;
    startToCloseTimeout: number;
    heartbeatTimeout: number;
    retry: { maximumInterval: number };
    cancellationType: string;
  }): A;
  export const ActivityCancellationType: { readonly WAIT_CANCELLATION_COMPLETED: string };
  export function continueAsNew<F extends (input: never) => Promise<unknown>>(
    ...args: Parameters<F>
  ): Promise<never>;
  export function workflowInfo(): { readonly continueAsNewSuggested: boolean };
}

// The parts of Temporal's packages that the adapters use. The packages are optional peer dependencies: this file lets
// the code compile without them.

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

  export const Context: { current(): import("./temporalCall.js").ActivityContext };
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

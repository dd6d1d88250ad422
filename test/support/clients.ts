import {
  type CallOptions,
  type CallPromise,
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type OperationId,
  type StatusError,
} from "../../src/index.js";
import { canaryKey } from "./canary.js";
import { watched, watchedOptions } from "./canaryClient.js";

/** Every way to send: behaviour is the same over each. */
export const transports: readonly { readonly name: string; readonly options: ClientOptions }[] = [
  { name: "node:http", options: {} },
  { name: "fetch", options: { fetch: globalThis.fetch } },
];

/** A client of a test server. Repeating has tests of its own: here one call is one request. */
export function connect(baseUrl: string, options: ClientOptions = {}): Client {
  const own: ClientOptions = {
    baseUrl,
    apiKey: canaryKey,
    accountId: "acme",
    maxRetries: 0,
    onAttempt: () => {},
  };
  return watched(createClient(watchedOptions({ ...own, ...options })));
}

/** One of the four operations with arguments that are right. */
export interface OperationCall {
  readonly operation: OperationId;
  readonly method: string;
  readonly path: string;
  readonly call: (client: Client, options?: CallOptions) => CallPromise<unknown>;
}

/** All four operations. */
export const operationCalls: readonly OperationCall[] = [
  {
    operation: "resumeReinforcementFineTuningJob",
    method: "POST",
    path: "/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume",
    call: (client, options) => client.reinforcementFineTuningJobs.resume("job-1", options),
  },
  {
    operation: "rerankDocuments",
    method: "POST",
    path: "/inference/v1/rerank",
    call: (client, options) =>
      client.rerank({ query: "capital of France", documents: ["Paris.", "Rome."] }, options),
  },
  {
    operation: "scaleDeployment",
    method: "PATCH",
    path: "/v1/accounts/acme/deployments/prod:scale",
    call: (client, options) => client.deployments.scale("prod", 2, options),
  },
  {
    operation: "uploadDatasetFile",
    method: "POST",
    path: "/v1/accounts/acme/datasets/reviews:upload",
    call: (client, options) =>
      client.datasets.upload("reviews", new TextEncoder().encode('{"text":"good"}\n'), {
        name: "train.jsonl",
        ...options,
      }),
  },
];

/** The StatusError a call rejects with; anything else fails the test. */
export async function failureOf(call: () => PromiseLike<unknown>): Promise<StatusError> {
  // Called outside the try: a call that throws instead of rejecting is a failure of its own.
  const running = call();
  try {
    await running;
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
  throw new Error("The call succeeded.");
}

/** The StatusError something throws at once; anything else fails the test. */
export function thrownBy(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

import { readFileSync } from "node:fs";
import { type RetryKind, operations as rows } from "../../src/generated/contract.js";
import { descriptions } from "../../src/generated/descriptions.js";
import {
  type AttemptEvent,
  type CallOptions,
  type CallPromise,
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type OperationId,
  type StatusError,
} from "../../src/index.js";
import { canaryKey, see } from "./canary.js";

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

type Method = (...given: unknown[]) => unknown;

/** How the conformance data asks for an operation. */
interface Asked {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
}

// Read where it is needed: programs that are bundled in another folder have no such file, and wrappers alone.
function askedOf(operation: OperationId): Asked {
  const file = new URL("../../contract/conformance/operations.json", import.meta.url);
  const { operations } = JSON.parse(readFileSync(file, "utf8")) as {
    operations: Readonly<Record<OperationId, Asked>>;
  };
  return operations[operation];
}

/** An operation with arguments that are right. */
export interface OperationCall {
  readonly operation: OperationId;
  readonly method: string;
  readonly path: string;
  readonly kind: RetryKind;
  /** Whether its kind makes a repeat safe. */
  readonly safe: boolean;
  readonly call: (client: Client, options?: CallOptions) => CallPromise<unknown>;
}

// What has a wrapper, with arguments as it takes them.
const wrapped: readonly Omit<OperationCall, "kind" | "safe">[] = [
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

// What nobody wrote: its method, with the ids and the body that the conformance data asks with.
function unwritten(operation: OperationId): (typeof wrapped)[number] {
  const { method, path } = rows[operation];
  const { arguments: given, query = [], headers = [] } = askedOf(operation);
  const ids = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = ""]) =>
    name === "account_id" ? [] : name,
  );
  const parameters = [...query, ...headers];
  const pairs = query.flatMap((name) =>
    [given[name]].flat().map((value) => [name, `${value}`] as [string, string]),
  );
  const search = pairs.length > 0 ? `?${new URLSearchParams(pairs)}`.replaceAll("+", "%20") : "";
  const sent = [
    ...ids.map((name) => given[name]),
    ...("body" in given ? [given.body] : []),
    ...(parameters.length > 0 ? [Object.fromEntries(parameters.map((name) => [name, given[name]]))] : []),
  ];
  return {
    operation,
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${given[name]}`).concat(search),
    call(client, options) {
      const steps = descriptions[operation].method.split(".");
      const found = steps.reduce((one, step) => Reflect.get(one, step), client as object) as Method;
      return found(...sent, options) as CallPromise<unknown>;
    },
  };
}

/** Every operation of the contract; those that have a wrapper come first. */
export const operationCalls: readonly OperationCall[] = [
  ...wrapped,
  ...(Object.keys(rows) as OperationId[])
    .filter((id) => wrapped.every(({ operation }) => operation !== id))
    .map(unwritten),
].map((each) => {
  const { kind } = rows[each.operation];
  return { ...each, kind, safe: kind === "read" || kind === "set" };
});

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

/** The client, with every event and every `withResponse` result it hands out seen by the watch. */
export function watched(client: Client): Client {
  return watchedObject(client) as Client;
}

function watchedObject(value: object): object {
  return new Proxy(value, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === "function") return watchedMethod(target, member as Method);
      return typeof member === "object" && member !== null ? watchedObject(member) : member;
    },
  });
}

function watchedMethod(target: object, method: Method): Method {
  const call: Method = (...given) => {
    const result = method.apply(target, given.map(watchedOptions));
    if (typeof result !== "object" || result === null) return result;
    if ("withResponse" in result) return watchedCall(result as { withResponse: () => Promise<unknown> });
    return "withOptions" in result ? watchedObject(result) : result;
  };
  // Some methods have methods of their own.
  const members = Object.entries(method).map(([name, own]) => [name, watchedMethod(method, own as Method)]);
  return Object.assign(call, Object.fromEntries(members));
}

function watchedCall(call: { withResponse: () => Promise<unknown> }): object {
  const { withResponse } = call;
  return Object.assign(call, {
    async withResponse() {
      const response = await withResponse();
      see("a withResponse result", response);
      return response;
    },
  });
}

/** Options whose `onAttempt` is seen; everything else, an option that is a getter included, stays as it is. */
export function watchedOptions<T>(options: T): T {
  if (typeof options !== "object" || options === null) return options;
  const descriptor = Object.getOwnPropertyDescriptor(options, "onAttempt");
  const onAttempt: unknown = descriptor?.value;
  if (typeof onAttempt !== "function") return options;
  const value = (event: AttemptEvent): unknown => {
    see("an event", event);
    return onAttempt(event);
  };
  const others = Object.getOwnPropertyDescriptors(options);
  return Object.create(Object.getPrototypeOf(options), { ...others, onAttempt: { ...descriptor, value } });
}

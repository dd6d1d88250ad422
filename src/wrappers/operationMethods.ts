import { makeCall } from "../call/call.js";
import type { ClientConfig } from "../call/settings.js";
import type { Outcome } from "../call/types.js";
import { requests } from "../generated/contract.js";
import { checkCount } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallOptions } from "../options/types.js";
import type { OptionTable, RequestRules } from "../options/validate.js";
import { ownValue } from "../values.js";
import { makeUpload } from "./datasets.js";
import { loaded, prepare, startCall } from "./invoke.js";
import type {
  ClientInside,
  OperationArguments,
  OperationMethod,
  RequestOptions,
  ServiceCall,
  ServiceRequest,
} from "./types.js";

// The module behind `client.request` and added operations, loaded with the first such call: few programs make one.
const late = () => loaded(import("./request.js"));

/** @internal Adds methods to a client by group and name; the group `""` is the client itself. */
export function addOperations<T extends object>(
  client: T,
  settings: ClientConfig,
  methods: Readonly<Record<string, Readonly<Record<string, OperationMethod>>>>,
): T {
  const groups = client as Record<string, object>;
  for (const [group, named] of Object.entries(methods)) {
    const calls = Object.entries(named).map(([name, method]) => {
      const { operation, path, body, parameters } = method;
      const call = (...given: unknown[]) =>
        startCall(operation, settings, () => {
          const ids = Object.fromEntries(path.map((name, index) => [name, given[index]]));
          let at = path.length;
          const content = body ? given[at++] : undefined;
          const input = { operation, ids, body: content, parameters: parameters ? given[at++] : undefined };
          return callOperation(settings, input as OperationArguments, given[at] as CallOptions | undefined);
        });
      return [name, call] as const;
    });
    // A polluted Object.prototype adds no group.
    const owner = group === "" ? client : (ownValue(groups, group) ?? {});
    Object.assign(owner, Object.fromEntries(calls));
    if (group !== "") groups[group] = owner;
  }
  return client;
}

/** @internal Makes the calls of any operation with a client's settings. */
export function createCalls(
  settings: ClientConfig,
): Pick<ClientInside, "callEncoded" | "callOperation"> & { readonly request: ServiceCall } {
  return {
    callEncoded: (request, options, onResponse) =>
      startCall("request", settings, () =>
        makeCall(settings, "request", { options, table: requestOptionTable }, async (...call) =>
          (await late()).prepareEncoded(...call, request, onResponse),
        ),
      ),
    callOperation: (input, options) =>
      startCall(input.operation, settings, () => callOperation(settings, input, options)),
    request: <T>(request: ServiceRequest, options?: RequestOptions) =>
      startCall<T>("request", settings, () =>
        makeCall(settings, "request", { options, table: requestOptionTable }, async (...call) =>
          (await late()).prepareAny<T>(...call, request),
        ),
      ),
  };
}

const { accountId: _, ...sharedNames } = callOptionTable;
const requestOptionTable = {
  ...sharedNames,
  maxResponseBytes: checkCount,
} as object as OptionTable<CallOptions>;

function callOperation(
  client: ClientConfig,
  input: OperationArguments,
  options: CallOptions | undefined,
): Promise<Outcome<unknown>> {
  const { file }: RequestRules = requests[input.operation];
  if (file !== undefined) return makeUpload(client, input, options);
  return makeCall(client, input.operation, { options, table: callOptionTable }, (settings) => {
    const draft = prepare<unknown>(settings, input.operation, {
      ids: input.ids,
      body: undefined,
      read: undefined,
    });
    return { ...draft, whole: late().then(({ prepareOperation }) => prepareOperation(draft, input)) };
  });
}

import type { ClientConfig } from "../call/settings.js";
import { loaded, startCall } from "./invoke.js";
import type {
  ClientInside,
  EncodedCall,
  OperationMethod,
  RequestOptions,
  ServiceCall,
  ServiceRequest,
} from "./types.js";

// Loads the module for `client.request` and for calls by operation with the first such call: few programs make one.
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
      const call = (...given: unknown[]) =>
        startCall(method.operation, settings, async () => (await late()).callMethod(settings, method, given));
      return [name, call] as const;
    });
    Object.assign(groups, mergedInto(group, groups, Object.fromEntries(calls)));
  }
  return client;
}

function mergedInto(group: string, groups: Record<string, object>, calls: object): object {
  return group === "" ? calls : { [group]: Object.assign(groups[group] ?? {}, calls) };
}

/** @internal Makes {@link ClientInside.callOperation} with a client's settings. */
export function createOperationCall(settings: ClientConfig): ClientInside["callOperation"] {
  return (input, options) =>
    startCall(input.operation, settings, async () => (await late()).callOperation(settings, input, options));
}

/** @internal Makes {@link ServiceCall} with a client's settings. */
export function createRequest(client: ClientConfig): ServiceCall {
  return <T>(request: ServiceRequest, options?: RequestOptions) =>
    startCall<T>("request", client, async () => (await late()).sendAny<T>(client, request, options));
}

/** @internal Makes {@link EncodedCall} with a client's settings. */
export function createEncodedCall(client: ClientConfig): EncodedCall {
  return (...given) => startCall("request", client, async () => (await late()).sendEncoded(client, ...given));
}

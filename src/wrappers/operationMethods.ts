import type { ClientConfig } from "../call/settings.js";
import { ownValue } from "../values.js";
import { loaded, startCall } from "./invoke.js";
import type { ClientInside, OperationMethod, RequestOptions, ServiceCall, ServiceRequest } from "./types.js";

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
      const call = (...given: unknown[]) =>
        startCall(method.operation, settings, async () => (await late()).callMethod(settings, method, given));
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
    callEncoded: (...given) =>
      startCall("request", settings, async () => (await late()).sendEncoded(settings, ...given)),
    callOperation: (input, options) =>
      startCall(input.operation, settings, async () =>
        (await late()).callOperation(settings, input, options),
      ),
    request: <T>(request: ServiceRequest, options?: RequestOptions) =>
      startCall<T>("request", settings, async () => (await late()).sendAny<T>(settings, request, options)),
  };
}

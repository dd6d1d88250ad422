import { loaded, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/settings.js";
import { type ContractMethods, contractMethods } from "./contractMethods.js";
import type { OperationCall } from "./types.js";

const late = () => loaded(import("./anyRequest.js"));

/** @internal Gives a client the methods that the contract has and nobody wrote. */
export function addMethods<T extends object>(client: T, settings: LateSettings): T & ContractMethods {
  const groups = client as Record<string, object>;
  for (const [group, methods] of Object.entries(contractMethods)) {
    const calls = Object.entries(methods).map(([name, method]) => {
      const call = (...given: unknown[]) =>
        startCall(method.operation, settings, async () => (await late()).callMethod(settings, method, given));
      return [name, call] as const;
    });
    Object.assign(group === "" ? client : groups, mergedInto(group, groups, Object.fromEntries(calls)));
  }
  return client as T & ContractMethods;
}

function mergedInto(group: string, groups: Record<string, object>, calls: object): object {
  return group === "" ? calls : { [group]: Object.assign(groups[group] ?? {}, calls) };
}

/** @internal Makes {@link OperationCall} with a client's settings. */
export function createOperationCall(settings: LateSettings): OperationCall {
  return (input, options) =>
    startCall(input.operation, settings, async () => (await late()).callOperation(settings, input, options));
}

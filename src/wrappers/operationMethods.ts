import { loaded, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import type { OperationId } from "../generated/contract.js";
import type { CallOptions, CallPromise } from "../options/callOptions.js";
import { type ContractMethods, contractMethods } from "./contractMethods.js";

/** What an operation takes. */
export interface OperationInput {
  readonly operation: OperationId;
  /** The ids of its path by their names, but for the account. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** Query and header parameters by their names. */
  readonly parameters?: object | undefined;
}

/** Calls any operation of the contract by its id, as the command line does. */
export type OperationCall = (input: OperationInput, options?: CallOptions) => CallPromise<unknown>;

/** The name of {@link OperationCall} on a client. */
export const operationCall: symbol = Symbol.for("tunerank.operationCall");

const late = () => loaded(import("./anyRequest.js"));

/** @internal Gives a client the methods that the contract has and nobody wrote. */
export function addMethods<T extends object>(client: T, settings: LateSettings): T & ContractMethods {
  const groups = client as Record<string, object>;
  for (const [group, methods] of Object.entries(contractMethods)) {
    const calls = Object.entries(methods).map(([name, method]) => {
      const call = (...given: unknown[]) =>
        startCall(method.operation, async () => (await late()).callMethod(settings, method, given));
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
    startCall(input.operation, async () => (await late()).callOperation(settings, input, options));
}

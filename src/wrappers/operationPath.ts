import { accountOf, type CallSettings } from "../call/settings.js";
import { type OperationId, operations } from "../generated/contract.js";
import { checkId } from "../options/arguments.js";

/** Whether the path of an operation names the account. */
export function needsAccount(operation: OperationId): boolean {
  return operations[operation].path.includes("{account_id}");
}

/** What stands in the path of an operation: the account of the call, and the ids. @throws StatusError for one that cannot */
export function pathOf(
  operation: OperationId,
  ids: Readonly<Record<string, unknown>>,
  settings: CallSettings,
): Record<string, string> {
  const names = [...operations[operation].path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return Object.fromEntries(
    names.map((name) => [
      name,
      name === "account_id" ? accountOf(settings) : checkId(ids[name], camelCase(name)),
    ]),
  );
}

// "datasetId" of "dataset_id", as the argument is called.
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

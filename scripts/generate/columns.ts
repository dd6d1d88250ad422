// The columns of every table of retries: the kinds of operations, with the operations of each.
import { type OperationId, operations, type RetryKind } from "../../src/generated/contract.js";
import { descriptions } from "../../src/generated/descriptions.js";
import { shortName } from "./document.js";

/** A kind of operations, by the words of a table's head. */
export interface Column {
  readonly kind: RetryKind;
  /** The names of its operations, with commas. */
  readonly names: string;
  /** Such as "set (scale)". */
  readonly title: string;
  /** One of them: the others are retried alike. */
  readonly operation: OperationId;
}

const kinds: readonly RetryKind[] = ["start", "read", "set", "append"];

// The whole name where the short one says it of two.
function nameOf(id: OperationId): string {
  const { method } = descriptions[id];
  const all = Object.values(descriptions).map((each) => shortName(each.method));
  const own = shortName(method);
  return all.filter((name) => name === own).length > 1 ? method : own;
}

/** The kinds that the contract has operations of. */
export const columns: readonly Column[] = kinds.flatMap((kind) => {
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => operations[id].kind === kind);
  const [operation] = ids;
  const names = ids.map(nameOf).join(", ");
  return operation === undefined ? [] : [{ kind, names, title: `${kind} (${names})`, operation }];
});

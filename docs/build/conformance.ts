import { readFile } from "node:fs/promises";
import { columns } from "../../scripts/generate/columns.js";
import type { OperationId } from "../../src/generated/contract.js";
import { code } from "./markdown.js";

/** What a row of contract/conformance/retries.json expects of one operation. */
export interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  /** Whether it is a valid response of this operation: then there is no error. */
  readonly value?: true;
  readonly code: string;
  readonly executed: string;
  readonly executedBecause: string;
  readonly notRetried: string;
}

/** A row of contract/conformance/retries.json, as far as the docs read it. */
export interface Row {
  readonly event: string;
  readonly description: string;
  readonly codeSource: "body" | "status" | "transport" | "client";
  readonly client?: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** The rows of a file in contract/conformance/ that are about one call whose requests all meet the same. */
export async function readRows<T>(file: string): Promise<readonly T[]> {
  const text = await readFile(new URL(`../../contract/conformance/${file}`, import.meta.url), "utf8");
  const { rows } = JSON.parse(text) as { rows: (T & { server?: object; client?: object })[] };
  return rows.filter(({ server = {}, client = {} }) => !("sequence" in server || "calls" in client));
}

/** How often each operation is repeated in a row's event, in the order of the columns. */
export function repeats(row: Row): number[] {
  return columns.map(({ operation }) => {
    const { requests, attempts = requests } = row.operations[operation];
    return Math.max(0, attempts - 1);
  });
}

/** What the operations of a row have in common, or each of their values. */
export function distinct(row: Row, key: "code" | "executed" | "notRetried"): string[] {
  return [...new Set(failures(row).map((expected) => expected[key]))];
}

function failures({ operations }: Row): Expected[] {
  return columns.map(({ operation }) => operations[operation]).filter(({ value }) => value === undefined);
}

// A "no" is certain where nothing was sent, and assumed where the request was rejected.
const readFrom: Readonly<Record<string, string>> = {
  "nothing-sent": "no: nothing sent",
  refused: "no: rejected",
};

/** What a row's error says of `executed`, as a cell: a "no" names what it is read from. */
export function executedCell(row: Row): string {
  const cells = failures(row).map(({ executed, executedBecause }) =>
    executed === "no" ? (readFrom[executedBecause] ?? executed) : executed,
  );
  return [...new Set(cells)].join(", ");
}

/** What the cells of {@link executedCell} mean, for below a table. */
export const executedNote =
  "`executed` says whether the operation ran. **No: nothing sent** is certain. **No: rejected** is [an assumption](/guide/unstated.md#refused): whether a rejected request did anything is not documented.";

/** What a dash of {@link repeatCells} means. */
export const dashNote = "A dash (–) means that such a response is valid for this operation.";

/** The retries of each operation as cells of a table: what is retried stands out, and a valid response has a dash. */
export function repeatCells(row: Row): string[] {
  return repeats(row).map((count, index) => {
    const { operation } = columns[index] as (typeof columns)[number];
    if (row.operations[operation].value) return "–";
    return count === 0 ? "0" : `**${count}**`;
  });
}

/** A row's description, with the options that make it what it is. */
export function describe({ description, client }: Row): string {
  const options = Object.entries(client ?? {}).map(([name, value]) =>
    // The data, which are for any language, keep the name that this option had.
    code(`${name === "repeatable" ? "idempotent" : name}: ${JSON.stringify(value)}`),
  );
  return options.length === 0 ? description : `${description} (${options.join(", ")})`;
}

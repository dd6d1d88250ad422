// The operations of the contract, as `tunerank request ID` calls them and describes them.

import type { RequestRules } from "../engine.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { descriptions } from "../generated/descriptions.js";

/** The rules of a value. */
export type ValueRules = NonNullable<RequestRules["body"]>;

/** A parameter that is given with `--param NAME=VALUE`. */
interface OperationParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: ValueRules;
  readonly description: string;
}

export const operationIds = Object.keys(operations) as readonly OperationId[];

export function isOperation(word: string): word is OperationId {
  return Object.hasOwn(operations, word);
}

export function requestRules(id: OperationId): RequestRules {
  return requests[id];
}

/** The names of the ids in an operation's path, except the account, which has its own option (`--account`). */
export function idsOf(id: OperationId): string[] {
  return [...operations[id].path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = ""]) =>
    name === "account_id" ? [] : [name],
  );
}

/** The parameters of an operation: first those of its path, then those of its query and headers. */
export function parametersOf(id: OperationId): OperationParameter[] {
  const { query, headers } = requestRules(id);
  const described = (name: string) => descriptions[id].parameters[name] ?? "";
  const ofPath = idsOf(id).map((name): OperationParameter => {
    return { name, in: "path", required: true, schema: { type: "string" }, description: described(name) };
  });
  const others = (place: "query" | "header", rules: ValueRules | undefined) =>
    Object.entries(rules?.properties ?? {}).map(([name, schema]) => {
      const required = rules?.required?.includes(name) === true;
      return { name, in: place, required, schema, description: described(name) };
    });
  return [...ofPath, ...others("query", query), ...others("header", headers)];
}

export function toldOf(id: OperationId): object {
  const { method, path, value = "json" } = operations[id];
  const { contentType, optional = false, body } = requestRules(id);
  const { summary } = descriptions[id];
  const sent = body && { contentType, required: !optional, schema: body };
  return {
    operation: id,
    method,
    path,
    summary,
    parameters: parametersOf(id),
    ...(sent && { body: sent }),
    answer: value,
  };
}

/** Describes an operation in lines of text. @param title Formats the operation's id, such as in bold */
export function operationLines(id: OperationId, title: (id: string) => string): string[] {
  const { method, path } = operations[id];
  const rows = [...parametersOf(id).map(parameterRow), ...bodyRows(id)];
  const width = Math.max(0, ...rows.map(([option]) => option.length));
  return [
    `${title(id)}  ${method} ${path}`,
    `  ${descriptions[id].summary}`,
    ...rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`),
  ];
}

type ContractRow = readonly [option: string, text: string];

function parameterRow({ name, schema, required, description }: OperationParameter): ContractRow {
  const { items = schema } = schema;
  const text = [
    required ? "Required." : "",
    description,
    schema.type === "array" ? "May be given more than once." : "",
  ];
  return [`--param ${name}=${valueName(items)}`, text.filter(Boolean).join(" ")];
}

function valueName({ type, enum: values }: ValueRules): string {
  if (values) return values.join("|");
  return { boolean: "true|false", string: "TEXT" }[type ?? ""] ?? "N";
}

function bodyRows(id: OperationId): ContractRow[] {
  const { body, file, optional } = requestRules(id);
  if (body === undefined) return [];
  const { required = [], properties = {} } = body;
  if (file !== undefined) return [["--body-file FILE", `Required. ${descriptions[id].fields[file]}`]];
  const fields = Object.keys(properties).map((name) =>
    required.includes(name) ? name : `${name} (optional)`,
  );
  const needed = fields.length === 0 ? "" : `${optional ? "" : "Required. "}Fields: `;
  return [
    [
      "--body JSON, --body-file FILE",
      `${needed}${fields.join(", ") || "Default: {}. No fields are documented."}`,
    ],
  ];
}

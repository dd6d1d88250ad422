// The operations of the contract, as `tunerank request ID` calls them and describes them.
import type { RequestRules } from "../engine.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { descriptions } from "../generated/descriptions.js";

type ValueRules = NonNullable<RequestRules["body"]>;

/** A parameter that is given with `--param NAME=VALUE`. */
type OperationParameter = Readonly<
  { in: "path" | "query" | "header"; required: boolean; schema: ValueRules } & Record<
    "name" | "description",
    string
  >
>;

export const operationIds = Object.keys(operations) as readonly OperationId[];

export function isOperation(word: string): word is OperationId {
  return Object.hasOwn(operations, word);
}

export function requestRules(id: OperationId): RequestRules {
  return requests[id];
}

/** The parameters of an operation: those of its path, except the account (`--account`), then of its query and headers. */
export function parametersOf(id: OperationId): OperationParameter[] {
  const { query, headers } = requestRules(id);
  const found: Omit<OperationParameter, "description">[] = [];
  for (const [, name = ""] of operations[id].path.matchAll(/\{(\w+)\}/g))
    if (name !== "account_id") found.push({ name, in: "path", required: true, schema: { type: "string" } });
  for (const [place, rules] of [["query", query] as const, ["header", headers] as const])
    for (const [name, schema] of Object.entries(rules?.properties ?? {}))
      found.push({ name, in: place, required: rules?.required?.includes(name) === true, schema });
  return found.map((each) => ({ ...each, description: descriptions[id].parameters[each.name] ?? "" }));
}

export function toldOf(id: OperationId): object {
  const { method, path, value = "json" } = operations[id];
  const { contentType, optional = false, body } = requestRules(id);
  const parameters = parametersOf(id);
  const sent = body && { body: { contentType, required: !optional, schema: body } };
  return {
    operation: id,
    method,
    path,
    summary: descriptions[id].summary,
    parameters,
    ...sent,
    answer: value,
  };
}

/** Describes an operation in lines of text. The first begins with its id. */
export function operationLines(id: OperationId): string[] {
  const { method, path } = operations[id];
  const { body, file, optional } = requestRules(id);
  const { summary, fields } = descriptions[id];
  const rows = parametersOf(id).map(({ name, schema, required, description }): [string, string] => {
    const { type = "", enum: values } = schema.items ?? schema;
    const value = values?.join("|") ?? { boolean: "true|false", string: "TEXT" }[type] ?? "N";
    const isList = schema.type === "array" && "May be given more than once.";
    const text = [required && "Required.", description, isList].filter(Boolean).join(" ");
    return [`--param ${name}=${value}`, text];
  });
  if (file !== undefined) rows.push(["--body-file FILE", `Required. ${fields[file]}`]);
  else if (body !== undefined) {
    const { required = [], properties = {} } = body;
    const names = Object.keys(properties).map((name) =>
      required.includes(name) ? name : `${name} (optional)`,
    );
    const needed = `${optional ? "" : "Required. "}Fields: ${names.join(", ")}`;
    const text = names.length === 0 ? "Default: {}. No fields are documented." : needed;
    rows.push(["--body JSON, --body-file FILE", text]);
  }
  const width = Math.max(0, ...rows.map(([option]) => option.length));
  const told = rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`);
  return [`${id}  ${method} ${path}`, `  ${summary}`, ...told];
}

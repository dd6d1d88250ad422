// The operations of the contract, as `tunerank request ID` calls them and describes them.
import type { RequestRules } from "../engine.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { descriptions } from "../generated/descriptions.js";

type OperationParameter = Readonly<Record<"name" | "description", string>> &
  Readonly<{ in: "path" | "query" | "header"; required: boolean; schema: NonNullable<RequestRules["body"]> }>;

export const operationIds = Object.keys(operations) as readonly OperationId[];

export function isOperation(word: string): word is OperationId {
  return Object.hasOwn(operations, word);
}

export const requestRules: Readonly<Record<OperationId, RequestRules>> = requests;

/** The parameters of an operation: those of its path, except the account (`--account`), then of its query and headers. */
export function parametersOf(id: OperationId): OperationParameter[] {
  const { query, headers } = requestRules[id];
  const names = [...operations[id].path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const ids = names.filter((name) => name !== "account_id");
  const ofPath = {
    required: ids,
    properties: Object.fromEntries(ids.map((name) => [name, { type: "string" }])),
  };
  return Object.entries({ path: ofPath as RequestRules["body"], query, header: headers }).flatMap(
    ([place, rules]) =>
      Object.entries(rules?.properties ?? {}).map(([name, schema]) => ({
        ...{ name, in: place as OperationParameter["in"], schema },
        required: rules?.required?.includes(name) === true,
        description: descriptions[id].parameters[name] ?? "",
      })),
  );
}

export function toldOf(id: OperationId): object {
  const { method, path, value: answer = "json" } = operations[id];
  const { contentType, optional = false, body: schema } = requestRules[id];
  const told = { operation: id, method, path, summary: descriptions[id].summary };
  const body = schema && { body: { contentType, required: !optional, schema } };
  return { ...told, parameters: parametersOf(id), ...body, answer };
}

/** Describes an operation in lines of text. The first begins with its id. */
export function operationLines(id: OperationId): string[] {
  const { method, path } = operations[id];
  const { body, file, optional } = requestRules[id];
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
    const isOptional = (name: string): string => (required.includes(name) ? name : `${name} (optional)`);
    const names = Object.keys(properties).map(isOptional).join(", ");
    const text = `${optional ? "" : "Required. "}Fields: ${names}`;
    const none = "Default: {}. No fields are documented.";
    rows.push(["--body JSON, --body-file FILE", names === "" ? none : text]);
  }
  const width = Math.max(0, ...rows.map(([option]) => option.length));
  const told = rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`);
  return [`${id}  ${method} ${path}`, `  ${summary}`, ...told];
}

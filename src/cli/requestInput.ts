// Builds what `tunerank request ID` sends, from its options and the contract's rules for the operation.

import { type OperationArguments, suggestion } from "../engine.js";
import type { OperationId } from "../generated/contract.js";
import type { ServiceRequest } from "../index.js";
import { UsageError } from "./context.js";
import { isObject } from "./input/lineContent.js";
import { parametersOf, requestRules, type ValueRules } from "./operations.js";
import { named } from "./terminal.js";

export interface InputOptions {
  readonly param?: readonly string[];
  readonly body?: string;
  readonly bodyFile?: string;
  readonly contentType?: string;
}

/**
 * The arguments of an operation's call.
 * @param contentOf Reads the body, unless it is a file to upload.
 * @throws UsageError
 */
export async function inputOf(
  operation: OperationId,
  options: InputOptions,
  contentOf: () => Promise<Partial<ServiceRequest>>,
): Promise<OperationArguments> {
  const { ids, parameters } = parametersIn(operation, options.param);
  const { file, body: rules } = requestRules(operation);
  if (file !== undefined)
    return { operation, ids, parameters, json: undefined, body: fileOf(operation, options) };
  if (options.contentType !== undefined)
    throw new UsageError("--content-type is for a file or a METHOD and a PATH.");
  const { body } = await contentOf();
  if (rules === undefined) {
    if (body !== undefined) throw new UsageError(`${operation} takes no body.`);
    return { operation, ids, parameters, json: undefined };
  }
  const json = body === undefined ? missingBody(operation) : `${body}`;
  const sent = json && JSON.parse(json);
  refuseMissingFields(sent, rules);
  return { operation, ids, parameters, json, body: sent };
}

// Reports missing fields. The client's own check would say what such a field must be, not that it is missing.
function refuseMissingFields(body: unknown, { required = [], properties = {} }: ValueRules): void {
  if (!isObject(body)) return;
  const missing = required.filter((name) => !Object.hasOwn(body, name));
  if (missing.length === 0) return;
  const others = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
  const unknown = others.length === 0 ? "" : ` It has unknown fields: ${others.map(named).join(", ")}.`;
  throw new UsageError(`The body has no ${missing.join(" and no ")}.${unknown} Nothing was sent.`);
}

/** Parses options of the form NAME=VALUE; a name may be given more than once. @throws UsageError */
export function pairsOf(pairs: readonly string[], option: string): Record<string, string[]> {
  const found: Record<string, string[]> = Object.create(null);
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`${option} must be NAME=VALUE.`);
    const name = pair.slice(0, at);
    found[name] = [...(found[name] ?? []), pair.slice(at + 1)];
  }
  return found;
}

function parametersIn(
  operation: OperationId,
  pairs: readonly string[] = [],
): Pick<OperationArguments, "ids" | "parameters"> {
  const values = pairsOf(pairs, "--param");
  const known = parametersOf(operation);
  const names = known.map(({ name }) => name);
  checkNames(operation, Object.keys(values), names);
  const ids: Record<string, unknown> = {};
  const parameters: Record<string, unknown> = {};
  for (const { name, in: place, required, schema } of known) {
    const texts = values[name];
    if (texts === undefined && required) throw new UsageError(`--param ${name}=VALUE is missing.`);
    if (texts === undefined) continue;
    if (schema.type !== "array" && texts.length > 1)
      throw new UsageError(`--param ${name} is given more than once.`);
    const read = texts.map((value) => readValue(value, schema.items ?? schema));
    (place === "path" ? ids : parameters)[name] = schema.type === "array" ? read : read[0];
  }
  return { ids, parameters };
}

// Rejects an unknown --param. The message quotes only names of the contract, never the given name: it may be an API
// key.
function checkNames(operation: OperationId, names: readonly string[], known: readonly string[]): void {
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  if (wrong === "account_id") throw new UsageError("The account is given with --account.");
  const advice = known.length === 0 ? "it takes none." : suggestion(wrong, known);
  throw new UsageError(`${operation} has no such --param: ${advice}`);
}

// A value that does not fit its type stays text, which the client's own check then rejects.
function readValue(text: string, { type }: ValueRules): unknown {
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  const isNumber = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text);
  return isNumber && (type === "integer" || type === "number") ? Number(text) : text;
}

function fileOf(operation: OperationId, { body, bodyFile }: InputOptions): string {
  if (body !== undefined || bodyFile === undefined)
    throw new UsageError(`${operation} sends a file: name it with --body-file.`);
  if (bodyFile === "-") throw new UsageError("The standard input has no name: name a file with --body-file.");
  return bodyFile;
}

// The body if none is given: undefined if it is optional, `{}` if it has no fields.
function missingBody(operation: OperationId): string | undefined {
  const { optional = false, body } = requestRules(operation);
  if (optional) return undefined;
  if (Object.keys(body?.properties ?? {}).length === 0) return "{}";
  throw new UsageError(`${operation} needs a body: give --body or --body-file.`);
}

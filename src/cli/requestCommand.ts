import { type ClientInside, insideOf, suggestion } from "../engine.js";
import type { OperationId } from "../generated/contract.js";
import type { CallPromise, ServiceRequest } from "../index.js";
import { type Context, namingFile, refuseOptions, UsageError } from "./context.js";
import { openInput } from "./input.js";
import * as contract from "./operations.js";
import type { Terminal } from "./terminal.js";
import { withClient } from "./withClient.js";

const jsonType = /^[^;]*[/+]json\b/i;
const ofPath = ["query", "accept", "maxBytes"] as const;
const ofCalls = ["dryRun", "param", "body", "bodyFile", "contentType", "idempotent", ...ofPath] as const;

export async function run(context: Context): Promise<void> {
  const { args, options, terminal } = context;
  const [name, path] = args;
  if (options.list) {
    refuseOptions(options, ofCalls, "has no effect on --list.");
    const ids = name === undefined ? contract.operationIds : [idOf(name)];
    return terminal.result(ids.map(contract.toldOf), ids.flatMap(contract.operationLines));
  }
  if (name === undefined) throw new UsageError("ID is missing: --list shows the operations.");
  const isId = contract.isOperation(name) || (path === undefined && !/^[A-Z]+$/.test(name));
  return isId ? callOperation(context, idOf(name)) : callAny(context);
}

function idOf(name: string): OperationId {
  if (contract.isOperation(name)) return name;
  throw new UsageError(`There is no operation with this ID: ${suggestion(name, contract.operationIds)}`);
}

async function callOperation(context: Context, operation: OperationId): Promise<void> {
  const { args, signal, options, terminal } = context;
  const { idempotent, contentType, bodyFile } = options;
  const { file, body: rules, optional = false } = contract.requestRules[operation];
  if (args.length > 1) throw new UsageError("An ID takes no PATH: the operation has its own.");
  refuseOptions(options, ofPath, "is for a METHOD and a PATH; parameters of an ID are given with --param.");
  if (file !== undefined && (options.body !== undefined || bodyFile === undefined || bodyFile === "-"))
    throw new UsageError(`${operation} sends a file: name it with --body-file.`);
  if (file === undefined) refuseOptions(options, ["contentType"], "is for a file or a METHOD and a PATH.");
  if (rules === undefined && file === undefined)
    refuseOptions(options, ["body", "bodyFile"], `does not fit: ${operation} takes no body.`);
  const { body } = file === undefined ? await contentOf(context) : {};
  // A body without documented fields need not be given.
  const isEmpty = rules !== undefined && !optional && Object.keys(rules.properties ?? {}).length === 0;
  const json = body === undefined ? (isEmpty ? "{}" : undefined) : `${body}`;
  const sent = json === undefined ? bodyFile : JSON.parse(json);
  await withClient(context, operation, async (client) => {
    const own = { signal, idempotent, ...(contentType !== undefined && { contentType }) };
    const input = { operation, ...parametersIn(operation, options.param), json, body: sent };
    await show((insideOf(client) as ClientInside).callOperation(input, own), terminal);
  });
}

async function callAny(context: Context): Promise<void> {
  const { args, options, signal, terminal } = context;
  const [method = "", path] = args;
  if (path === undefined) throw new UsageError("PATH is missing: a METHOD needs one.");
  refuseOptions(
    options,
    ["param"],
    "is for an ID; parameters of a METHOD and a PATH are given with --query.",
  );
  const { accept, idempotent, maxBytes: maxResponseBytes } = options;
  const query = options.query && pairsOf(options.query as readonly string[], "--query");
  const request = { method, path, query, accept, ...(await contentOf(context)) } as ServiceRequest;
  await withClient(context, "request", (client) =>
    show(client.request(request, { signal, idempotent, maxResponseBytes }), terminal),
  );
}

function pairsOf(pairs: readonly string[], option: string): Record<string, string[]> {
  const found: Record<string, string[]> = Object.create(null);
  for (const pair of pairs) {
    const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (name === "") throw new UsageError(`${option} must be NAME=VALUE.`);
    found[name] = [...(found[name] ?? []), value];
  }
  return found;
}

// The values of --param with their types. The client checks them.
function parametersIn(operation: OperationId, pairs: readonly string[] = []) {
  const found: Record<"ids" | "parameters", Record<string, unknown>> = { ids: {}, parameters: {} };
  for (const [name, texts] of Object.entries(pairsOf(pairs, "--param"))) {
    const { in: place, schema = {} } =
      contract.parametersOf(operation).find((each) => each.name === name) ?? {};
    const { type } = schema.items ?? schema;
    const read = texts.map((text) => {
      if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
      const isNumber = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text);
      return isNumber && (type === "integer" || type === "number") ? Number(text) : text;
    });
    const isList = schema.type === "array" || read.length > 1;
    found[place === "path" ? "ids" : "parameters"][name] = isList ? read : read[0];
  }
  return found;
}

// The body and its type. JSON is checked, but sent as it was written: parsing and writing it again would round large
// numbers. A byte order mark is removed: JSON has none, and a service may reject it.
async function contentOf({ options, signal }: Context): Promise<Partial<ServiceRequest>> {
  const { body: text, bodyFile, contentType = "application/json" } = options;
  if (text !== undefined) refuseOptions(options, ["bodyFile"], "cannot be used together with --body.");
  if (text === undefined && bodyFile === undefined) {
    refuseOptions(options, ["contentType"], "needs a body.");
    return {};
  }
  const isJson = text !== undefined || jsonType.test(contentType);
  const name = text !== undefined ? "--body" : namingFile("--body-file", bodyFile ?? "-");
  let body = Buffer.from(text ?? "");
  if (bodyFile !== undefined) {
    const input = await openInput(bodyFile, name, isJson ? "JSON" : undefined, signal);
    body = Buffer.from(await input.bytes().finally(() => input.close()));
  }
  if (!isJson) return { body, contentType };
  const advice = "To send it as it is, name its type with --content-type.";
  try {
    const json = new TextDecoder("utf-8", { fatal: true }).decode(body);
    JSON.parse(json);
    return { body: Buffer.from(json), contentType };
  } catch (error) {
    throw new UsageError(`${name} is not JSON in UTF-8: ${(error as Error).message}. ${advice}`);
  }
}

async function show(call: CallPromise<unknown>, terminal: Terminal): Promise<void> {
  const { data, httpStatus, headers } = await call.withResponse();
  const type = headers["content-type"] ?? "";
  const isBytes = data instanceof Uint8Array;
  if (terminal.json) {
    const content = isBytes ? { base64: Buffer.from(data).toString("base64") } : { data: data ?? null };
    terminal.printJson({ status: httpStatus, headers, ...content });
  } else if (data === undefined) {
    if (!terminal.quiet) terminal.note(`HTTP ${httpStatus}, without a body.`);
  } else if (isBytes || (typeof data === "string" && !jsonType.test(type))) {
    if (terminal.columns === 0) terminal.write(data);
    else if (isBytes) terminal.note(`${data.byteLength} bytes of ${type}: send them to a file.`);
    else for (const line of data.trimEnd().split("\n")) terminal.print(line);
  } else terminal.printJson(data);
}

import { type ClientInside, insideOf, type OperationArguments, suggestion } from "../engine.js";
import type { OperationId } from "../generated/contract.js";
import type { CallPromise, ServiceRequest } from "../index.js";
import { type Context, namingFile, orUndefined, refuseOptions, UsageError } from "./context.js";
import { Input } from "./input.js";
import {
  isOperation,
  operationIds,
  operationLines,
  parametersOf,
  requestRules,
  toldOf,
} from "./operations.js";
import type { Terminal } from "./terminal.js";
import { withClient } from "./withClient.js";

type RequestOptions = Partial<
  Record<"body" | "bodyFile" | "contentType" | "accept", string> &
    Record<"param" | "query", readonly string[]> &
    Record<"list" | "idempotent", boolean> & { maxBytes: number }
>;
type RequestContext = Context<Readonly<RequestOptions>>;
const ofPath = ["query", "accept", "maxBytes"] as const;
const ofCalls = ["dryRun", "param", "body", "bodyFile", "contentType", "idempotent", ...ofPath] as const;

/** Runs `tunerank request ID` and `tunerank request METHOD PATH`. */
export async function run(context: RequestContext): Promise<void> {
  const { args, options, terminal } = context;
  const [name, path] = args;
  if (options.list) {
    refuseOptions(options, ofCalls, "has no effect on --list.");
    const ids = name === undefined ? operationIds : [idOf(name)];
    if (terminal.json) return terminal.printJson(ids.map(toldOf));
    for (const [index, id] of ids.entries()) {
      if (index > 0) terminal.print();
      for (const line of operationLines(id)) terminal.print(line);
    }
    return;
  }
  if (name === undefined) throw new UsageError("ID is missing: --list shows the operations.");
  const isId = isOperation(name) || (path === undefined && !/^[A-Z]+$/.test(name));
  return isId ? callOperation(context, idOf(name)) : callAny(context);
}

function idOf(name: string): OperationId {
  if (isOperation(name)) return name;
  throw new UsageError(`There is no operation with this ID: ${suggestion(name, operationIds)}`);
}

async function callOperation(context: RequestContext, operation: OperationId): Promise<void> {
  const { args, signal, options, terminal } = context;
  const { idempotent, contentType, bodyFile } = options;
  const { file, body: rules, optional = false } = requestRules(operation);
  if (args.length > 1) throw new UsageError("An ID takes no PATH: the operation has its own.");
  refuseOptions(options, ofPath, "is for a METHOD and a PATH; parameters of an ID are given with --param.");
  const named = parametersIn(operation, options.param);
  let [json, sent]: [string | undefined, unknown] = [undefined, undefined];
  if (file !== undefined) {
    if (options.body !== undefined || bodyFile === undefined || bodyFile === "-")
      throw new UsageError(`${operation} sends a file: name it with --body-file.`);
    sent = bodyFile;
  } else {
    refuseOptions(options, ["contentType"], "is for a file or a METHOD and a PATH.");
    const { body } = await contentOf(context);
    if (rules === undefined && body !== undefined) throw new UsageError(`${operation} takes no body.`);
    if (body !== undefined) json = `${body}`;
    else if (rules !== undefined && !optional) {
      if (Object.keys(rules.properties ?? {}).length > 0)
        throw new UsageError(`${operation} needs a body: give --body or --body-file.`);
      json = "{}";
    }
    sent = json === undefined ? undefined : JSON.parse(json);
  }
  await withClient(context, operation, async (client) => {
    // For an upload, the content type is that of the file in the form.
    const own = { signal, idempotent, ...(contentType !== undefined && { contentType }) };
    const input = { operation, ...named, json, ...(sent !== undefined && { body: sent }) };
    await show((insideOf(client) as ClientInside).callOperation(input, own), terminal);
  });
}

async function callAny(context: RequestContext): Promise<void> {
  const { args, options, signal, terminal } = context;
  const [method = "", path] = args;
  if (path === undefined) throw new UsageError("PATH is missing: a METHOD needs one.");
  refuseOptions(
    options,
    ["param"],
    "is for an ID; parameters of a METHOD and a PATH are given with --query.",
  );
  const { accept, idempotent, maxBytes: maxResponseBytes } = options;
  const query = options.query && pairsOf(options.query, "--query");
  const request = { method, path, query, accept, ...(await contentOf(context)) } as ServiceRequest;
  await withClient(context, "request", (client) =>
    show(client.request(request, { signal, idempotent, maxResponseBytes }), terminal),
  );
}

// Parses options of the form NAME=VALUE; a name may be given more than once.
function pairsOf(pairs: readonly string[], option: string): Record<string, string[]> {
  const found: Record<string, string[]> = Object.create(null);
  for (const pair of pairs) {
    const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (name === "") throw new UsageError(`${option} must be NAME=VALUE.`);
    found[name] = [...(found[name] ?? []), value];
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
  const wrong = Object.keys(values).find((name) => !names.includes(name));
  if (wrong === "account_id") throw new UsageError("The account is given with --account.");
  if (wrong !== undefined) {
    // The message quotes only names of the contract, never the given name: it may be an API key.
    const advice = names.length === 0 ? "it takes none." : suggestion(wrong, names);
    throw new UsageError(`${operation} has no such --param: ${advice}`);
  }
  const found: Record<"ids" | "parameters", Record<string, unknown>> = { ids: {}, parameters: {} };
  for (const { name, in: place, required, schema } of known) {
    const texts = values[name];
    if (texts === undefined && required) throw new UsageError(`--param ${name}=VALUE is missing.`);
    if (texts === undefined) continue;
    if (schema.type !== "array" && texts.length > 1)
      throw new UsageError(`--param ${name} is given more than once.`);
    // A value that does not fit its type stays text, which the client's own check then rejects.
    const { type } = schema.items ?? schema;
    const read = texts.map((text) => {
      if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
      const isNumber = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text);
      return isNumber && (type === "integer" || type === "number") ? Number(text) : text;
    });
    found[place === "path" ? "ids" : "parameters"][name] = schema.type === "array" ? read : read[0];
  }
  return found;
}

// The body and its type. JSON is checked, but sent as it was written: parsing and writing it again would round large
// numbers. A byte order mark is removed: JSON has none, and a service may reject it.
async function contentOf({ options, signal }: RequestContext): Promise<Partial<ServiceRequest>> {
  const { body: text, bodyFile, contentType = "application/json" } = options;
  if (text !== undefined && bodyFile !== undefined)
    throw new UsageError("--body and --body-file cannot be used together.");
  if (text === undefined && bodyFile === undefined) {
    if (options.contentType !== undefined) throw new UsageError("--content-type needs a body.");
    return {};
  }
  const isJson = text !== undefined || isJsonType(contentType);
  const name = text !== undefined ? "--body" : namingFile("--body-file", bodyFile ?? "-");
  let body = Buffer.from(text ?? "");
  if (bodyFile !== undefined) {
    const input = await Input.open(bodyFile, name, isJson ? "JSON" : undefined, signal);
    try {
      body = Buffer.from(await input.bytes());
      if (await input.hasChanged()) throw new Error(`${name} changed while it was read. Nothing was sent.`);
    } finally {
      await input.close();
    }
  }
  if (!isJson) return { body, contentType };
  const advice = "To send it as it is, name its type with --content-type.";
  const json = orUndefined(() => new TextDecoder("utf-8", { fatal: true }).decode(body));
  if (json === undefined) throw new UsageError(`${name} is not UTF-8. ${advice}`);
  try {
    JSON.parse(json);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}. ${advice}`);
  }
  return { body: Buffer.from(json), contentType };
}

function isJsonType(type: string): boolean {
  return /^[^;]*[/+]json\b/i.test(type);
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
  } else if (isBytes || (typeof data === "string" && !isJsonType(type))) {
    if (terminal.columns === 0) terminal.write(data);
    else if (isBytes) terminal.note(`${data.byteLength} bytes of ${type}: send them to a file.`);
    else for (const line of data.trimEnd().split("\n")) terminal.print(line);
  } else terminal.printJson(data);
}

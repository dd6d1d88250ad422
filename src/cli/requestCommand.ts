import { type ClientInside, insideOf, suggestion } from "../engine.js";
import type { OperationId } from "../generated/contract.js";
import type { CallPromise, CallResponse, ServiceRequest } from "../index.js";
import { type Context, namingFile, orUndefined, refuseOptions, UsageError } from "./context.js";
import { conversionOf } from "./input/formats.js";
import { faultText } from "./input/lineContent.js";
import { readBody } from "./input/readInput.js";
import { isOperation, operationIds, operationLines, toldOf } from "./operations.js";
import { type InputOptions, inputOf, pairsOf } from "./requestInput.js";
import { jsonLine, jsonLines, named, oneLine, type Terminal, Unwritable, writtenBy } from "./terminal.js";
import { withClient } from "./withClient.js";

interface RequestCommandOptions extends InputOptions {
  readonly list?: boolean;
  readonly query?: readonly string[];
  readonly accept?: string;
  readonly repeatable?: boolean;
  readonly maxBytes?: number;
}

const ofCalls = [
  "param",
  "query",
  "body",
  "bodyFile",
  "contentType",
  "accept",
  "repeatable",
  "maxBytes",
] as const;

/** Runs `tunerank request ID` and `tunerank request METHOD PATH`. */
export async function run(context: Context<RequestCommandOptions>): Promise<void> {
  const { args, options, terminal } = context;
  const [name, path] = args;
  if (options.list) refuseOptions(options, ["dryRun", ...ofCalls], "has no effect on --list.");
  if (options.list) return list(name === undefined ? operationIds : [idOf(name)], terminal);
  if (name === undefined) throw new UsageError("ID is missing: --list shows the operations.");
  const isId = isOperation(name) || (path === undefined && !/^[A-Z]+$/.test(name));
  return isId ? callOperation(context, idOf(name)) : callAny(context);
}

function list(ids: readonly OperationId[], terminal: Terminal): void {
  const title = (id: string) => terminal.style("bold", id);
  if (terminal.json) terminal.print(jsonLine(ids.map(toldOf)));
  else terminal.print(ids.map((id) => operationLines(id, title).join("\n")).join("\n\n"));
}

function idOf(name: string): OperationId {
  if (isOperation(name)) return name;
  const near = suggestion(name, operationIds);
  throw new UsageError(
    `There is no operation with this ID${near.startsWith("did") ? `: ${near}` : `. The IDs are ${operationIds.join(", ")}.`}`,
  );
}

async function callOperation(context: Context<RequestCommandOptions>, operation: OperationId): Promise<void> {
  const { args, signal, options, terminal } = context;
  if (args.length > 1) throw new UsageError("An ID takes no PATH: the operation has its own.");
  const why = "is for a METHOD and a PATH; parameters of an ID are given with --param.";
  refuseOptions(options, ["query", "accept", "maxBytes"], why);
  const input = await inputOf(operation, options, () => contentOf(context, undefined));
  const { repeatable, contentType } = options;
  await withClient(context, operation, async (client) => {
    // For an upload, the content type is that of the file in the form.
    const own = { signal, idempotent: repeatable, ...(contentType !== undefined && { contentType }) };
    const made = (insideOf(client) as ClientInside).callOperation(input, own);
    await show(made, terminal);
  });
}

async function callAny(context: Context<RequestCommandOptions>): Promise<void> {
  const { args, options, signal, terminal } = context;
  const [method = "", path] = args;
  if (path === undefined) throw new UsageError("PATH is missing: a METHOD needs one.");
  if (!path.startsWith("/")) throw new UsageError("PATH must begin with /.");
  if (path.includes("?"))
    throw new UsageError("PATH may not contain ?: query parameters are given with --query NAME=VALUE.");
  if (options.param !== undefined)
    throw new UsageError("--param is for an ID; parameters of a METHOD and a PATH are given with --query.");
  const { accept, repeatable, maxBytes: maxResponseBytes } = options;
  const content = await contentOf(context, "To send it as it is, name its kind with --content-type.");
  const query = options.query && pairsOf(options.query, "--query");
  const request = { method, path, query, accept, ...content } as ServiceRequest;
  await withClient(context, "request", (client) =>
    show(client.request(request, { signal, idempotent: repeatable, maxResponseBytes }), terminal),
  );
}

async function show(call: CallPromise<unknown>, terminal: Terminal): Promise<void> {
  const response = await call.withResponse();
  refuseInfinite(response.data);
  if (terminal.json) terminal.print(jsonLine(asJson(response)));
  else print(response, terminal);
}

// Rejects a number such as 1e400: it was read as Infinity, and would be printed as null.
function refuseInfinite(data: unknown): void {
  if (data instanceof Uint8Array) return;
  const finite = (name: string, value: unknown): unknown => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new Unwritable(undefined, `it has a number too large for JSON${name && ` in ${named(name)}`}`);
  };
  writtenBy(() => JSON.stringify(data, finite));
}

/** The file that a body was read from. */
interface BodyFile {
  readonly name: string;
  readonly file?: string | undefined;
  /** What to do if it is not meant to be JSON. */
  readonly ofOther?: string | undefined;
}

// JSON is checked, but sent as it was written: parsing and writing it again would round large numbers.
async function contentOf(
  { options, signal }: Context<RequestCommandOptions>,
  ofOther: string | undefined,
): Promise<Partial<ServiceRequest>> {
  const { body: text, bodyFile, contentType = "application/json" } = options;
  if (text !== undefined && bodyFile !== undefined) {
    throw new UsageError("--body and --body-file cannot be used together.");
  }
  if (text === undefined && bodyFile === undefined) {
    if (options.contentType !== undefined) throw new UsageError("--content-type needs a body.");
    return {};
  }
  const isJson = text !== undefined || /[/+]json\b/i.test(contentType);
  const name = namingFile("--body-file", bodyFile ?? "-");
  const input = { name, wanted: isJson ? ("JSON" as const) : undefined, advice: ofOther };
  const body = text === undefined ? await readBody(bodyFile ?? "-", input, signal) : Buffer.from(text);
  return {
    body: isJson
      ? checkedJson(body, text === undefined ? { name, file: bodyFile, ofOther } : undefined)
      : body,
    contentType,
  };
}

// Decoding removes a byte order mark: JSON has none, and a service may reject it.
function checkedJson(body: Buffer, from: BodyFile = { name: "--body" }): Buffer {
  const { name, file, ofOther } = from;
  const text = orUndefined(() => new TextDecoder("utf-8", { fatal: true }).decode(body));
  if (text !== undefined && orUndefined<unknown>(() => JSON.parse(text)) !== undefined)
    return Buffer.from(text);
  const more = ofOther === undefined ? "" : ` ${ofOther}`;
  if (text !== undefined) throw new UsageError(`${name} is not JSON (${faultText(text, true)}).${more}`);
  const convert = conversionOf("latin1", "JSON", file);
  throw new UsageError(`${name} is not UTF-8. If it is Latin-1: \`${convert}\`.${more}`);
}

function asJson({ httpStatus, headers, data }: CallResponse<unknown>): object {
  const content =
    data instanceof Uint8Array ? { base64: Buffer.from(data).toString("base64") } : { data: data ?? null };
  return { status: httpStatus, headers, ...content };
}

function print({ data, httpStatus, headers }: CallResponse<unknown>, terminal: Terminal): void {
  const watched = terminal.columns > 0;
  if (data === undefined) {
    if (!terminal.quiet) terminal.note(`HTTP ${httpStatus}, without a body.`);
  } else if (data instanceof Uint8Array) {
    if (!watched) terminal.write(data);
    else
      terminal.note(oneLine(`${data.byteLength} bytes of ${headers["content-type"]}: send them to a file.`));
  } else if (typeof data === "string" && !isJson(headers)) {
    if (!watched) terminal.write(data);
    else for (const line of data.trimEnd().split("\n")) terminal.print(oneLine(line));
  } else terminal.print(jsonLines(data));
}

function isJson(headers: Readonly<Record<string, string>>): boolean {
  return /^[^;]*[/+]json\b/i.test(headers["content-type"] ?? "");
}

// Reads each operation of the contract as the generators take it; what they do not support ends here, by its line.
import {
  checkPaths,
  checkStated,
  component,
  type Document,
  type Examples,
  exampleOf,
  type LineOf,
  lacking,
  linesOf,
  nameOf,
  notSupported,
  type Operation,
  operationsOf,
  type Place,
  type PlacedParameter,
  parametersOf,
  pointedTo,
  type Reading,
  Refusals,
  type Refuse,
  type RetryKind,
  type Schema,
  schemaAt,
} from "./document.js";
import { type RequestRules, readRules } from "./rules.js";

/** What a response's body is read as. */
export type ResponseKind = "json" | "none" | "bytes" | "text";

interface Body {
  readonly content?: Readonly<Record<string, Examples & { readonly schema?: Schema }>>;
  readonly required?: boolean;
}

/** The body that an operation takes: a JSON value, or a form with one file. */
export interface RequestBody {
  readonly contentType: string;
  readonly schema: Schema;
  readonly required: boolean;
  /** The name of the part that holds the file. */
  readonly file: string | undefined;
  /** Where its schema stands. */
  readonly place: Place;
  /** The first of the contract; of a form, by its parts. */
  readonly example: unknown;
}

/** An operation, with its parameters by where they stand. */
export interface OperationShape {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly kind: RetryKind;
  readonly sdkMethod: string;
  readonly timeoutMs: number;
  readonly bytesPerSecond: number | undefined;
  readonly maxResponseBytes: number;
  readonly operation: Operation;
  readonly parameters: Readonly<Record<"path" | "query" | "header", readonly PlacedParameter[]>>;
  readonly body: RequestBody | undefined;
  /** What of it is checked before it is sent. */
  readonly rules: RequestRules;
  /** Finds a line of openapi.yaml. */
  readonly lineOf: LineOf;
  readonly response: {
    readonly kind: ResponseKind;
    readonly status: string;
    readonly schema?: Schema;
    readonly contentType?: string;
    /** The first of the contract, where there is a body. */
    readonly example?: unknown;
  };
}

/** Every operation. @param source The text of the document, for the lines in messages @throws Error for all that is not supported */
export function shapesOf(document: Document, source: string): OperationShape[] {
  const lineOf = linesOf(source);
  const names = new Set<string>();
  const refusals = new Refusals();
  checkPaths(document, lineOf, refusals);
  const shapes = operationsOf(document).map((found) => {
    const { method, path, operation } = found;
    const place = ["paths", path, method.toLowerCase()];
    const refuse: Refuse = (what, at, words = notSupported) => {
      const id = operation.operationId ?? `${method} ${path}`;
      const { name, advice } = typeof words === "string" ? { name: id, advice: words } : words;
      return refusals.refuse(lineOf(at), `${name} has ${what}${advice}`);
    };
    const collect: Reading["collect"] = (read) => refusals.collect(read);
    const reading: Reading = { ...found, document, place, lineOf, refuse, collect };
    checkStated(reading, names);
    return collect(() => shapeOf(reading));
  });
  refusals.end();
  return shapes.filter((shape) => shape !== undefined);
}

function shapeOf(reading: Reading): OperationShape {
  const { method, path, operation, place, refuse, collect } = reading;
  const { "x-timeout-ms": time = 0 } = operation;
  const all = parametersOf(reading);
  const within = (where: string) => all.filter((each) => each.in === where);
  const named = [...path.matchAll(/\{(.+?)\}/g)].map(([, name = ""]) => name);
  const known = [...reading.shared, ...(operation.parameters ?? [])].map(
    (each) => component<{ name?: string }>(reading.document, each, () => ({}) as never).name,
  );
  for (const name of named.filter((each) => !known.includes(each)))
    collect(() => refuse(`no parameter for {${name}} of its path`, place));
  const body = collect(() => bodyOf(reading));
  const at = [...place, "requestBody"];
  if (body && /^(GET|HEAD|DELETE)$/.test(method)) collect(() => refuse(`a body with ${method}`, at));
  const response = operation.responses && collect(() => responseOf(reading));
  // In the order of the path, as the method takes them.
  const inPath = named.flatMap((name) => within("path").filter((each) => each.name === name));
  const parameters = { path: inPath, query: within("query"), header: within("header") };
  const rules = readRules(reading, parameters, body);
  if (body?.file !== undefined && typeof time === "number")
    refuse("a file, and an x-timeout-ms without bytesPerSecond", [...place, "x-timeout-ms"]);
  return {
    id: operation.operationId,
    method,
    path,
    kind: operation["x-retry"],
    sdkMethod: operation["x-sdk-method"],
    timeoutMs: typeof time === "number" ? time : time.baseMs,
    bytesPerSecond: typeof time === "number" ? undefined : time.bytesPerSecond,
    maxResponseBytes: operation["x-max-response-bytes"],
    operation,
    parameters,
    body,
    rules,
    // Nothing is written of an operation whose response is refused.
    response: response as OperationShape["response"],
    lineOf: reading.lineOf,
  };
}

function bodyOf(reading: Reading): RequestBody | undefined {
  const { operation, place, refuse } = reading;
  if (operation.requestBody === undefined) return undefined;
  const at = [...place, "requestBody"];
  const { content, required = false } = pointedTo<Body>(reading, operation.requestBody, at);
  const [[contentType, { schema, ...examples }] = refuse("a body without content", at), ...others] =
    Object.entries(content ?? {});
  if (others.length > 0) refuse(`${others.length + 1} content types in its request`, [...at, "content"]);
  const inner = [...at, "content", contentType];
  if (schema === undefined || nameOf(schema) === undefined)
    return refuse("a body whose schema has no name", inner);
  const { type, properties = {}, oneOf, additionalProperties } = schemaAt(reading, schema, inner);
  const example =
    exampleOf(reading.document, examples) ?? refuse("a body without an example", inner, lacking);
  if (contentType === "application/json") {
    if ((type ?? (oneOf || additionalProperties ? "object" : undefined)) !== "object")
      refuse("a JSON body that is no object", inner);
    return { contentType, schema, required, file: undefined, place: [...inner, "schema"], example };
  }
  if (contentType !== "multipart/form-data") refuse(`a body of the type ${contentType}`, inner);
  const [[file, part] = refuse("a form without a file", inner), ...more] = Object.entries(properties);
  if (more.length > 0 || schemaAt(reading, part, inner).format !== "binary")
    refuse("a form that is not one file", inner);
  return { contentType, schema, required, file, place: [...inner, "schema"], example };
}

function responseOf(reading: Reading): OperationShape["response"] {
  const { place, refuse } = reading;
  const { responses } = reading.operation;
  const all = [...place, "responses"];
  const [status = refuse("no successful response", all), ...more] = Object.keys(responses).filter((each) =>
    each.startsWith("2"),
  );
  if (more.length > 0) refuse(`${more.length + 1} successful responses`, [...all, more[0] ?? ""]);
  const at = [...all, status];
  if (!/^\d+$/.test(status)) refuse(`a response ${status}`, at);
  const { content } = pointedTo<Body>(reading, responses[status] as object, at);
  const [media, ...others] = Object.entries(content ?? {});
  if (others.length > 0) refuse(`${others.length + 1} content types in its response`, [...at, "content"]);
  if (media === undefined) return { kind: "none", status };
  const [contentType, { schema, ...examples }] = media;
  const inner = [...at, "content", contentType];
  const example =
    exampleOf(reading.document, examples) ?? refuse("a response without an example", inner, lacking);
  // A call would return nothing until the stream ends.
  if (contentType === "text/event-stream") refuse(`a response of the type ${contentType}`, inner);
  if (/^text\//.test(contentType)) return { kind: "text", status, contentType, example };
  if (!/[/+]json$/.test(contentType)) return { kind: "bytes", status, contentType, example };
  if (
    schema === undefined ||
    nameOf(schema) === undefined ||
    schemaAt(reading, schema, inner).type !== "object"
  )
    return refuse("a JSON response that is no object with a name", inner);
  return { kind: "json", status, schema, contentType, example };
}

// Reads each operation of the contract as the generators take it; what they do not support ends here, by its line.
import { LineCounter, parseDocument } from "yaml";
import {
  type Document,
  nameOf,
  type Operation,
  operationsOf,
  type Parameter,
  type RetryKind,
  resolve,
  type Schema,
} from "./document.js";

/** What an answer's body is read as. */
export type AnswerKind = "json" | "none" | "bytes" | "text";

/** The body that an operation takes: a JSON value, or a form with one file. */
export interface RequestBody {
  readonly contentType: string;
  readonly schema: Schema;
  readonly required: boolean;
  /** The name of the part that holds the file. */
  readonly file: string | undefined;
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
  readonly parameters: Readonly<Record<"path" | "query" | "header", readonly Parameter[]>>;
  readonly body: RequestBody | undefined;
  readonly answer: {
    readonly kind: AnswerKind;
    readonly status: string;
    readonly schema?: Schema;
    readonly contentType?: string;
    /** The first of the contract. */
    readonly example?: unknown;
  };
}

type Examples = Pick<Parameter, "example" | "examples">;

interface Media extends Examples {
  readonly schema: Schema;
}

/** Every operation. @param source The text of the document, for the lines in messages @throws Error for what is not supported */
export function shapesOf(document: Document, source: string): OperationShape[] {
  const lines = new LineCounter();
  const parsed = parseDocument(source, { lineCounter: lines });
  return operationsOf(document).map(({ method, path, operation, shared }) => {
    const place = ["paths", path, method.toLowerCase()];
    const refuse: Refuse = (what, ...inner) => {
      throw new Error(
        `openapi.yaml:${lineOf(parsed, lines, [...place, ...inner])}: ${operation.operationId} has ${what}, which is not supported. Teach it to scripts/generate/operations.ts.`,
      );
    };
    return shapeOf(document, { method, path, operation, shared }, refuse);
  });
}

type Refuse = (what: string, ...inner: (string | number)[]) => never;

function lineOf(
  parsed: ReturnType<typeof parseDocument>,
  lines: LineCounter,
  place: (string | number)[],
): number {
  for (let path = place; path.length > 0; path = path.slice(0, -1)) {
    const node = parsed.getIn(path, true) as { range?: [number, number, number] } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function shapeOf(
  document: Document,
  { method, path, operation, shared }: ReturnType<typeof operationsOf>[number],
  refuse: Refuse,
): OperationShape {
  const time = operation["x-timeout-ms"];
  const all = [...shared, ...(operation.parameters ?? [])].map((each) =>
    component<Parameter>(document, each),
  );
  for (const parameter of all) checkParameter(document, parameter, refuse);
  const within = (place: string) => all.filter((each) => each.in === place);
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  for (const name of named)
    if (!within("path").some((each) => each.name === name)) refuse(`no parameter for {${name}} of its path`);
  const body = bodyOf(document, operation, refuse);
  if (body && /^(GET|HEAD|DELETE)$/.test(method)) refuse(`a body with ${method}`, "requestBody");
  if (body?.file !== undefined && typeof time === "number")
    refuse("a file, and an x-timeout-ms without bytesPerSecond", "x-timeout-ms");
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
    // In the order of the path, as the method takes them.
    parameters: {
      path: named.flatMap((name) => within("path").filter((each) => each.name === name)),
      query: within("query"),
      header: within("header"),
    },
    body,
    answer: answerOf(document, operation, refuse),
  };
}

const styles: Readonly<Record<string, string>> = { path: "simple", query: "form", header: "simple" };
const simple = /^(string|integer|number|boolean)$/;

function checkParameter(document: Document, parameter: Parameter, refuse: Refuse): void {
  const { name, in: place, style = styles[place], explode = place === "query", schema } = parameter;
  const what = `the ${place} parameter ${name}`;
  if (!(place in styles)) refuse(what, "parameters");
  if (style !== styles[place]) refuse(`${what} with style: ${style}`, "parameters");
  if (schema === undefined) refuse(`${what} without a schema`, "parameters");
  const { type = "", items } = resolve(document, schema);
  const isList = type === "array" && place === "query" && items !== undefined;
  if (parameter.required && place !== "path" && exampleOf(document, parameter) === undefined)
    refuse(`${what} without an example`, "parameters");
  if (isList && !explode) refuse(`${what} with explode: false`, "parameters");
  const plain = isList ? resolve(document, items).type : type;
  if (!simple.test(plain ?? "")) refuse(`${what} of the type ${plain ?? "any"}`, "parameters");
  if (place === "path" && type !== "string") refuse(`${what} that is no string`, "parameters");
}

function bodyOf(document: Document, operation: Operation, refuse: Refuse): RequestBody | undefined {
  if (operation.requestBody === undefined) return undefined;
  const { content, required = false } = component<NonNullable<Operation["requestBody"]>>(
    document,
    operation.requestBody,
  );
  const [media, ...others] = Object.entries(content);
  if (media === undefined || others.length > 0)
    refuse(`${others.length + 1} content types in its request`, "requestBody");
  const [contentType, { schema, ...examples }] = media as [string, Media];
  const example = exampleOf(document, examples);
  if (example === undefined) refuse("a body without an example", "requestBody");
  if (nameOf(schema) === undefined) refuse("a body whose schema has no name", "requestBody");
  if (contentType === "application/json") return { contentType, schema, required, file: undefined, example };
  if (contentType !== "multipart/form-data") refuse(`a body of the type ${contentType}`, "requestBody");
  const [part, ...more] = Object.entries(resolve(document, schema).properties ?? {});
  if (part === undefined || more.length > 0 || resolve(document, part[1]).format !== "binary")
    refuse("a form that is not one file", "requestBody");
  return { contentType, schema, required, file: part?.[0], example };
}

function answerOf(document: Document, { responses }: Operation, refuse: Refuse): OperationShape["answer"] {
  const good = Object.keys(responses).filter((status) => status.startsWith("2"));
  const [status = ""] = good;
  if (good.length !== 1) refuse(`${good.length} successful answers`, "responses");
  const { content = {} } = component<{ content?: Record<string, Media> }>(
    document,
    responses[status] as object,
  );
  const [media, ...others] = Object.entries(content);
  if (others.length > 0) refuse(`${others.length + 1} content types in its answer`, "responses", status);
  if (media === undefined) return { kind: "none", status };
  const [contentType, { schema, ...examples }] = media;
  const example = exampleOf(document, examples);
  if (example === undefined) refuse("an answer without an example", "responses", status);
  if (/^text\//.test(contentType)) return { kind: "text", status, contentType, example };
  if (!/[/+]json$/.test(contentType)) return { kind: "bytes", status, contentType, example };
  if (nameOf(schema) === undefined || resolve(document, schema).type !== "object")
    refuse("a JSON answer that is no object with a name", "responses", status);
  return { kind: "json", status, schema, contentType, example };
}

/** The first example of a body or a parameter; undefined where it has none. */
export function exampleOf(document: Document, { example, examples = {} }: Examples): unknown {
  const [first] = Object.values(examples);
  return example ?? (first && component<{ value?: unknown }>(document, first).value);
}

/** What a reference points to; anything else is itself. */
export function component<T>(document: Document, value: object): T {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value as T;
  const [, , kind = "", name = ""] = $ref.split("/");
  const found = document.components[kind]?.[name];
  if (found === undefined) throw new Error(`The contract has no ${kind} ${name}.`);
  return found as T;
}

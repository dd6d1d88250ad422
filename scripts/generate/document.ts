import { readFile } from "node:fs/promises";
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parse,
  parseDocument,
  type Document as Yaml,
} from "yaml";

/** A schema of the contract, as far as the generators read it. */
export interface Schema {
  $ref?: string;
  title?: string;
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  deprecated?: boolean;
  readOnly?: boolean;
  writeOnly?: boolean;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  not?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  pattern?: string;
  example?: unknown;
  "x-open"?: boolean;
  "x-max-bytes"?: number;
  "x-enumDescriptions"?: Record<string, string>;
  "x-http-statuses"?: Record<string, number>;
}

/** What sending an operation twice does: the kinds of `x-retry`. */
export type RetryKind = "read" | "set" | "start" | "append";

/** Whether a repeat of an operation is safe: the `x-retry-safe` of the published documents. */
export function isSafe({ "x-retry": kind }: Pick<Operation, "x-retry">): boolean {
  return kind === "read" || kind === "set";
}

/** The name of a method in a sentence: what stands behind its group. */
export function shortName(method: string): string {
  return method.split(".").pop() ?? method;
}

/** One operation of the contract. */
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  "x-retry": RetryKind;
  "x-timeout-ms": number | { baseMs: number; bytesPerSecond: number };
  "x-max-response-bytes": number;
  "x-sdk-method": string;
  "x-when-unknown"?: string;
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

/** A parameter of an operation. */
export interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

/** The contract, as far as the generators read it. */
export interface Document {
  info: { version: string; "x-contract-revision": string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; [kind: string]: Record<string, unknown> };
}

/** Reads the contract. */
export async function readDocument(path: string): Promise<Document> {
  return parse(await readFile(path, "utf8")) as Document;
}

const methods = /^(get|put|post|delete|options|head|patch|trace)$/;

/** An operation, and the parameters of its path. */
export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly shared: readonly object[];
}

/** Every operation in the contract's order. */
export function operationsOf(document: Document): FoundOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item ?? {})
      .filter(([method]) => methods.test(method))
      .map(([method, operation]) => {
        const shared = (item.parameters ?? []) as unknown as object[];
        return { method: method.toUpperCase(), path, operation: operation ?? {}, shared };
      }),
  );
}

/** References to every component that responses are made of. */
export function responseComponents(document: Document): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (key !== "$ref") visit(part);
      else if (!found.has(part)) {
        found.add(part);
        const [, , kind = "", name = ""] = part.split("/");
        visit(document.components[kind]?.[name]);
      }
    }
  };
  for (const { operation } of operationsOf(document)) visit(operation.responses);
  return found;
}

/** The form in words, with an example, that a pattern stands for; undefined where its schema does not say it. */
export function formOf({ description = "", example }: Schema): string | undefined {
  const form = /\b(?:form|format) `([^`]+)`/.exec(description)?.[1];
  return form === undefined || example === undefined ? undefined : `${form}, such as ${example}`;
}

/** The name of the component a reference points to. */
export function nameOf(schema: Schema): string | undefined {
  return (schema.$ref ?? schema.allOf?.[0]?.$ref)?.split("/").pop();
}

/** The component a schema refers to, or the schema itself. */
export function resolve(document: Document, schema: Schema): Schema {
  const name = nameOf(schema);
  const found = name === undefined ? schema : document.components.schemas[name];
  if (found === undefined) throw new Error(`The contract has no schema ${name}.`);
  return found;
}

// What an operation is read with: the document, the lines of openapi.yaml for messages, and what references lead to.

/** The way to a part: keys, and positions in lists. */
export type Place = readonly (string | number)[];

/** Finds the line of a part, or of what is nearest around it; references lead to what they name. */
export type LineOf = (place: Place) => number;

/** Reads the lines of a document. @param source Its text */
export function linesOf(source: string): LineOf {
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter });
  return (place) => counter.linePos(offsetOf(document, place)).line;
}

function offsetOf(document: Yaml, place: Place, offset = 0): number {
  let node: unknown = document.contents;
  let at = offset;
  for (const [index, step] of place.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const target =
      isMap(node) && !node.has(step) ? (node.get("$ref") ?? node.getIn(["allOf", 0, "$ref"])) : undefined;
    if (typeof target === "string" && target.startsWith("#/"))
      return offsetOf(document, [...target.slice(2).split("/"), ...place.slice(index)], at);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
      if (!isScalar(pair?.key)) return at;
      at = pair.key.range?.[0] ?? at;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      at = (node as { range?: [number] } | undefined)?.range?.[0] ?? at;
    } else return at;
  }
  return at;
}

/** Ends the reading of a part for what an operation has at a place. @param words What to do, and what has it, if that is not the operation */
export type Refuse = (what: string, place: Place, words?: string | RefusedPart) => never;

interface RefusedPart {
  readonly name: string;
  readonly advice: string;
}

/** What is not supported, by its line. */
class Refused extends Error {}

/** Collects what is not supported, so that all of it is told at once. */
export class Refusals {
  readonly #found = new Map<string, number>();

  /** Ends the reading of a part. */
  refuse(line: number, text: string): never {
    throw Object.assign(new Refused(text), { line });
  }

  /** Reads a part; undefined if it was refused. */
  collect<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#found.set(error.message, (error as Refused & { line: number }).line);
      return undefined;
    }
  }

  /** @throws Error that names all that was refused, in the order of the lines */
  end(): void {
    const all = [...this.#found].sort(([, one], [, other]) => one - other);
    if (all.length === 0) return;
    throw new Error(all.map(([text, line]) => `openapi.yaml:${line}: ${text}`).join("\n"));
  }
}

/** An operation while it is read. */
export interface Reading extends FoundOperation {
  readonly document: Document;
  readonly place: Place;
  readonly lineOf: LineOf;
  readonly refuse: Refuse;
  readonly collect: <T>(read: () => T) => T | undefined;
}

/** What a reference points to; anything else is itself. */
export function component<T>(
  document: Document,
  value: object | null,
  refuse: (what: string) => never = noSuch,
): T {
  const { $ref } = (value ?? {}) as { $ref?: string };
  if ($ref === undefined) return (value ?? {}) as T;
  const [, , kind = "", name = ""] = $ref.split("/");
  return (document.components[kind]?.[name] ?? refuse(`the reference ${$ref}, which leads nowhere`)) as T;
}

/** The examples of a body or a parameter. */
export interface Examples {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, object>>;
}

/** The first example; undefined where there is none. */
export function exampleOf(document: Document, { example, examples = {} }: Examples): unknown {
  const [first] = Object.values(examples);
  return example ?? (first && component<{ value?: unknown }>(document, first).value);
}

function noSuch(what: string): never {
  throw new Error(`The contract has ${what}.`);
}

/** The same for a part of an operation. */
export function pointedTo<T>({ document, refuse }: Reading, value: object, place: Place): T {
  return component<T>(document, value, (what) => refuse(what, place));
}

/** The schema of a part, by what it refers to. */
export function schemaAt({ document, refuse }: Reading, schema: Schema, place: Place): Schema {
  const name = nameOf(schema);
  const found = name === undefined ? schema : document.components.schemas[name];
  return found ?? refuse(`the schema ${name}, which the contract lacks`, place);
}

/** The end of a refusal: what the generators do not know. */
export const notSupported = ", which is not supported. Teach it to scripts/generate/operations.ts.";
/** The end of a refusal: what an operation has to say. */
export const lacking = ", which it needs: CONTRIBUTING.md says what an operation has.";
const needed =
  "operationId summary description tags x-sdk-method x-retry x-timeout-ms x-max-response-bytes responses".split(
    " ",
  );

/** Refuses what no path may have. */
export function checkPaths({ paths }: Document, lineOf: LineOf, refusals: Refusals): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const word of ["$ref", "servers"]) {
      if (item?.[word] === undefined) continue;
      refusals.collect(() => refusals.refuse(lineOf(["paths", path]), `${path} has ${word}${notSupported}`));
    }
  }
}

/** Refuses an operation that does not say of itself what it must: the linter explains it, this is for whoever generates first. */
export function checkStated(reading: Reading, names: Set<string>): void {
  const { operation, method, place } = reading;
  const stated = operation as unknown as Readonly<Record<string, unknown>>;
  const refuse: (...args: Parameters<Refuse>) => void = (...args) =>
    reading.collect(() => reading.refuse(...args));
  const isMissing = (word: string): boolean => (stated[word] ?? undefined) === undefined;
  for (const word of needed) if (isMissing(word)) refuse(`no ${word}`, place, lacking);
  for (const word of ["operationId", "x-sdk-method"].filter((each) => !isMissing(each))) {
    const name = String(stated[word]);
    if (names.has(name)) refuse(`the ${word} of another operation`, [...place, word]);
    names.add(name);
  }
  for (const word of ["servers", "security", "callbacks"])
    if (stated[word] !== undefined) refuse(`${word} of its own`, [...place, word]);
  if (!isMissing("x-retry") && !/^(read|set|start|append)$/.test(operation["x-retry"]))
    refuse(`the x-retry ${operation["x-retry"]}`, [...place, "x-retry"]);
  if (method === "TRACE") refuse("a method that fetch cannot send", place);
}

// The parameters of an operation, and of its path.

/** A parameter, and where it stands. */
export interface PlacedParameter extends Parameter {
  readonly place: Place;
}

/** All of them; one of the operation's own stands for one of its path with the same name. */
export function parametersOf(reading: Reading): PlacedParameter[] {
  const { operation, path, shared, place, refuse } = reading;
  const lists = [
    [shared, ["paths", path, "parameters"]],
    [operation.parameters ?? [], [...place, "parameters"]],
  ] as const;
  const found = new Map<string, PlacedParameter>();
  for (const [list, at] of lists) {
    for (const [index, each] of list.entries()) {
      const own = [...at, index];
      reading.collect(() => {
        const parameter = { ...pointedTo<Parameter>(reading, each, own), place: own };
        checkParameter(reading, parameter);
        found.set(`${parameter.in} ${parameter.name}`, parameter);
      });
    }
  }
  const all = [...found.values()];
  // Both are fields of one argument.
  const twice = all.find(({ in: where, name }) => where === "header" && found.has(`query ${name}`));
  if (twice) reading.collect(() => refuse(`a query and a header parameter ${twice.name}`, twice.place));
  return all;
}

const styles: Readonly<Record<string, string>> = { path: "simple", query: "form", header: "simple" };
const simple = /^(string|integer|number|boolean)$/;
const headersOfClient = /^(accept|authorization|content-type|content-length|host|cookie)$/i;

function checkParameter(reading: Reading, parameter: PlacedParameter): void {
  const { path, refuse } = reading;
  const { name, in: where, style = styles[where], explode = where === "query", schema, place } = parameter;
  const what = `the ${where} parameter ${name}`;
  if (!(where in styles)) refuse(what, [...place, "in"]);
  if (style !== styles[where]) refuse(`${what} with style: ${style}`, [...place, "style"]);
  if (schema === undefined) refuse(`${what} without a schema`, place);
  if (parameter.required && where !== "path" && exampleOf(reading.document, parameter) === undefined)
    refuse(
      `${what} without an example`,
      place,
      ", which it needs: the stand-in and the conformance data send it.",
    );
  const at = [...place, "schema"];
  const { type = "", items } = schemaAt(reading, schema, at);
  const isList = type === "array" && where === "query" && items !== undefined;
  if (isList && !explode) refuse(`${what} with explode: false`, [...place, "explode"]);
  const plain = isList ? schemaAt(reading, items, at).type : type;
  if (!simple.test(String(plain ?? ""))) refuse(`${what} of the type ${plain || "any"}`, at);
  if (where === "path" && type !== "string") refuse(`${what} that is no string`, at);
  if (where === "path" && !/^\w+$/.test(name))
    refuse(`${what}, whose name is no identifier`, [...place, "name"]);
  if (where === "path" && !path.includes(`{${name}}`)) refuse(`${what}, which its path lacks`, place);
  if (where === "header" && headersOfClient.test(name))
    refuse(`${what}, which the client sends itself`, place);
}

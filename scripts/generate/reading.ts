// What an operation is read with: the document, the lines of openapi.yaml for messages, and what references lead to.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document as Yaml } from "yaml";
import { type Document, type FoundOperation, nameOf, type Schema } from "./document.js";

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
    const target = isMap(node) ? (node.get("$ref") ?? node.getIn(["allOf", 0, "$ref"])) : undefined;
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

/** Ends the generator for what an operation has at a place. */
export type Refuse = (what: string, place: Place, advice?: string) => never;

/** An operation while it is read. */
export interface Reading extends FoundOperation {
  readonly document: Document;
  readonly place: Place;
  readonly lineOf: LineOf;
  readonly refuse: Refuse;
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

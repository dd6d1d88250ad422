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

import { isDeepStrictEqual } from "node:util";
import { type Break, Breaks, type Report } from "./comparison.js";
import { type Document, type Endpoint, endpointsOf, resolve, type Schema } from "./document.js";
import { findBreaks } from "./findBreaks.js";

type Fields = Readonly<Record<string, unknown>>;

/** A situation of the conformance data, and what a client makes of it. */
interface Row extends Fields {
  readonly event?: string;
  readonly name?: string;
  readonly operations?: Readonly<Record<string, Fields>>;
}

// What a row of error answers says of a client; the others have an outcome for each operation.
const outcomes = ["code", "inferred", "codeSource", "message"];
// Names of things for people, and of this data itself.
const ignored = ["$schema", "x-contract-revision", "description"];

/**
 * What new conformance data asks otherwise of clients that passed the old: breaks are reported; what is new, which
 * such a client may fail too, is returned.
 */
export function compareData(
  file: string,
  before: Fields,
  after: Fields | undefined,
  report: Report,
): string[] {
  if (after === undefined) report(file, "is gone", "certified clients");
  else if (Array.isArray(before.rows)) return compareRows(file, before, after, report);
  else compareFields(file, before, after, report);
  return [];
}

function compareRows(file: string, before: Fields, after: Fields, report: Report): string[] {
  const old = rowsOf(before);
  const now = rowsOf(after);
  const additions: string[] = [];
  for (const [name, row] of old) {
    const found = now.get(name);
    const where = `${file}, ${name}`;
    if (found === undefined) report(where, "is gone", "certified clients");
    else {
      compareOutcomes(where, row, found, report);
      if (isAnother(row, found))
        additions.push(`another situation in ${file}, \`${name}\`, which a certified client may fail`);
    }
  }
  const added = [...now.keys()].filter((name) => !old.has(name));
  if (added.length === 0) return additions;
  const counted = `${file} goes from ${old.size} rows to ${now.size}; the new ones, which a certified client may fail`;
  return [...additions, `${counted}: ${added.map((name) => `\`${name}\``).join(", ")}`];
}

// An outcome that says more than before changes nothing of what it said.
function compareOutcomes(where: string, before: Row, after: Row, report: Report): void {
  const shared = Object.fromEntries(outcomes.map((key) => [key, before[key]]));
  for (const [key, value] of Object.entries(shared)) {
    compareField(where, key, value, after[key], report);
  }
  for (const [operation, outcome] of Object.entries(before.operations ?? {})) {
    const found = after.operations?.[operation];
    if (found === undefined) report(`${where}, ${operation}`, "is gone", "certified clients");
    else compareFields(`${where}, ${operation}`, outcome, found, report);
  }
}

function compareFields(where: string, before: Fields, after: Fields, report: Report): void {
  for (const [key, value] of Object.entries(before)) {
    if (!ignored.includes(key)) compareField(where, key, value, after[key], report);
  }
}

function compareField(where: string, key: string, old: unknown, now: unknown, report: Report): void {
  if (old === undefined || isDeepStrictEqual(old, now)) return;
  if (isFields(old) && isFields(now)) compareFields(`${where}, ${key}`, old, now, report);
  else
    report(
      where,
      `${key} was ${JSON.stringify(old)}, is ${JSON.stringify(now) ?? "gone"}`,
      "certified clients",
    );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What was said of the situation, and is no more.
function isAnother({ operations: _, ...before }: Row, after: Row): boolean {
  const keys = Object.keys(before).filter((key) => !outcomes.includes(key) && !ignored.includes(key));
  return keys.some((key) => !isDeepStrictEqual(before[key], after[key]));
}

function rowsOf({ rows }: Fields): Map<string, Row> {
  return new Map((rows as Row[]).map((row) => [row.event ?? row.name ?? "", row]));
}

/** What a new contract has that the old one had not, one line for each. */
export function findAdditions(before: Document, after: Document): string[] {
  const known = endpointsOf(before);
  const operations = [...endpointsOf(after)].flatMap(([name, endpoint]) => {
    const old = known.get(name);
    return old === undefined
      ? [`operation \`${endpoint.name}\``]
      : addedToOperation(before, after, old, endpoint);
  });
  return [...new Set([...operations, ...addedSchemas(before, after)])];
}

function addedToOperation(before: Document, after: Document, old: Endpoint, now: Endpoint): string[] {
  const parameters = names(old.parameters.map((each) => resolve(before, each).name ?? ""));
  const added = now.parameters.flatMap((each) => {
    const { name = "" } = resolve(after, each);
    return parameters.has(name) ? [] : [`parameter \`${name}\` of \`${now.name}\``];
  });
  const statuses = Object.keys(now.operation.responses).filter(
    (each) => old.operation.responses[each] === undefined,
  );
  return [
    ...added,
    ...statuses.map((status) => `status ${status} of \`${now.name}\``),
    ...addedMediaTypes(before, after, old, now),
  ];
}

function addedMediaTypes(before: Document, after: Document, old: Endpoint, now: Endpoint): string[] {
  const statusesOf = new Map<string, string[]>();
  for (const [status, response] of Object.entries(now.operation.responses)) {
    const found = old.operation.responses[status];
    if (found === undefined) continue;
    const known = names(Object.keys(resolve(before, found).content ?? {}));
    for (const type of Object.keys(resolve(after, response).content ?? {})) {
      if (!known.has(type)) statusesOf.set(type, [...(statusesOf.get(type) ?? []), status]);
    }
  }
  return [...statusesOf].map(([type, found]) => `${type} in answers with status ${found.join(", ")}`);
}

function addedSchemas(before: Document, after: Document): string[] {
  return Object.entries(after.components?.schemas ?? {}).flatMap(([name, schema]) => {
    const old = before.components?.schemas?.[name];
    if (old === undefined) return [`schema \`${name}\``];
    const values = names((old.enum ?? []).map(String));
    const addedValues = old.enum === undefined ? [] : (schema.enum ?? []).map(String);
    return [
      ...Object.keys(schema.properties ?? {})
        .filter((property) => old.properties?.[property] === undefined)
        .map((property) => `field \`${name}.${property}\``),
      ...addedValues
        .filter((value) => !values.has(value))
        .map((value) => `value \`${value}\` of \`${name}\``),
    ];
  });
}

function names(list: readonly string[]): ReadonlySet<string> {
  return new Set(list);
}

/** What of the old contract is deprecated by the new one, one line for each. */
export function findDeprecations(before: Document, after: Document): string[] {
  const known = placesOf(before);
  return [...placesOf(after)].flatMap(([place, isDeprecated]) =>
    isDeprecated && known.get(place) === false ? [place] : [],
  );
}

// Whether each operation, parameter, schema and field is deprecated.
function placesOf(document: Document): Map<string, boolean> {
  const places = new Map<string, boolean>();
  const add = (place: string, { deprecated }: { deprecated?: unknown }): void => {
    places.set(place, deprecated === true);
  };
  for (const { name, operation, parameters } of endpointsOf(document).values()) {
    add(`operation \`${name}\``, operation);
    for (const parameter of parameters.map((each) => resolve(document, each)))
      add(`parameter \`${parameter.name}\` of \`${name}\``, parameter);
  }
  const addFields = (schema: Schema, at: string): void => {
    const { properties = {}, items, additionalProperties } = schema;
    const inner = new Map(Object.entries(properties).map(([name, each]) => [`.${name}`, each]));
    if (items !== undefined) inner.set("[]", items);
    if (typeof additionalProperties === "object") inner.set(".*", additionalProperties);
    for (const [step, each] of inner) {
      const where = at + step;
      add(`field \`${where}\``, each);
      addFields(each, where);
    }
  };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    add(`schema \`${name}\``, schema);
    addFields(schema, name);
  }
  return places;
}

/** All that a revision of the contract says. */
export interface Revision {
  readonly contract: Document;
  /** The form that clients are generated from. */
  readonly clients: Document;
  /** The conformance data by file name. */
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Changes {
  readonly breaks: readonly Break[];
  readonly additions: readonly string[];
  readonly deprecations: readonly string[];
}

/** What a new document breaks, adds and deprecates. */
export function findDocumentChanges(before: Document, after: Document): Changes {
  return {
    breaks: findBreaks(before, after),
    additions: findAdditions(before, after),
    deprecations: findDeprecations(before, after),
  };
}

/** What a new revision changes: its document, its form for clients and its data. */
export function findChanges(before: Revision, after: Revision): Changes {
  const { breaks, additions, deprecations } = findDocumentChanges(before.contract, after.contract);
  const made = findBreaks(before.clients, after.clients, "clients").filter(
    (found) => !breaks.some((known) => isDeepStrictEqual(known, found)),
  );
  const data = new Breaks();
  const rows = Object.entries(before.data).flatMap(([file, old]) =>
    compareData(file, old, after.data[file], data.reporter()),
  );
  const files = Object.keys(after.data).filter((file) => !(file in before.data));
  return {
    breaks: [...breaks, ...together(made), ...data.list()],
    additions: [...additions, ...rows, ...files.map((file) => `conformance data \`${file}\``)],
    deprecations,
  };
}

// The making of the form treats all schemas alike: what became of several in the same way is told once.
function together(breaks: readonly Break[]): Break[] {
  const alike = new Map<string, Break[]>();
  for (const found of breaks) {
    const [, way = ""] = /(, in \w+)$/.exec(found.where) ?? [];
    const key = JSON.stringify([way, found.what, found.whom, found.operations]);
    alike.set(key, [...(alike.get(key) ?? []), { ...found, where: found.where.replace(way, "") }]);
  }
  return [...alike].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ where }) => where).join(", ");
    return [{ ...first, where: `the form for clients, ${names}${JSON.parse(key)[0]}` }];
  });
}

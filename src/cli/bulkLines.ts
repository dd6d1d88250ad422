// The lines of a bulk run's input: each is a request with an id, or it is named with what is wrong.
import { variables } from "../engine.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest } from "../index.js";
import { type CommandOptions, orUndefined, UsageError } from "./context.js";
import { isObject, type Line } from "./input.js";
import { type AskedRow, fingerprintOf, hashesOf, type Id } from "./rows.js";

type Fields = Readonly<Record<string, unknown>>;

export type BadLine = Readonly<{ line: number; error: { code: "INVALID_ARGUMENT"; message: string } }>;

/** A line that is a request, even if the client or the service will reject it. */
export interface BulkRequest extends AskedRow {
  readonly line: number;
  readonly id: Id;
  /** The id as JSON. */
  readonly key: string;
  readonly body: RerankRequest;
}

/** The value that a path such as `body.query` or `passages[].text` leads to: of own properties only. */
export function valueAt(fields: Fields, path: string): unknown {
  if (Object.hasOwn(fields, path)) return fields[path];
  const [, name = "", list, rest] = /^([^.[]+)(\[\])?(?:\.(.+))?$/.exec(path) ?? [];
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (rest === undefined) return value;
  const inside = (each: unknown): unknown => (isObject(each) ? valueAt(each, rest) : undefined);
  return list === undefined ? inside(value) : Array.isArray(value) ? value.map(inside) : undefined;
}

/** Says whether a line is one of a shard, such as "0/8", which never changes. One without an id belongs to the first. */
export function shardOf(shard: string): (line: BulkRequest | BadLine) => boolean {
  const [, index = Number.NaN, count = 0] = (/^(\d{1,9})\/(\d{1,9})$/.exec(shard) ?? []).map(Number);
  if (!(index < count))
    throw new UsageError("--shard must be I/N, counted from 0: 0/8 is the first of eight shards.");
  // The first 32 bits of the hash decide.
  return (line) => Math.floor(("hash" in line ? line.hash : 0) / 2 ** 20) % count === index;
}

export function readLine(
  { number: line, text, problem }: Line,
  options: CommandOptions,
): BulkRequest | BadLine {
  const read = problem ?? requestIn(text, options);
  return typeof read === "string" ? badLine(line, read) : { line, ...read };
}

export function badLine(line: number, message: string): BadLine {
  return { line, error: { code: "INVALID_ARGUMENT", message } };
}

const fieldNames = Object.keys(requests.rerankDocuments.body.properties);
const longestNames = 200;

function requestIn(text: string, options: CommandOptions): Omit<BulkRequest, "line"> | string {
  const line = fieldsIn(text);
  if (typeof line === "string") return line;
  // A line of a Batch API has its request in `body`, under an id of its own.
  const isBatch = !Object.hasOwn(line, "id") && Object.hasOwn(line, "custom_id") && isObject(line.body);
  const request = (isBatch ? line.body : line) as Fields;
  const at = (path: string | undefined, name: string): unknown =>
    path === undefined ? valueAt(request, name) : valueAt(line, path);
  const { idField, queryField, documentsField, task, topN: top_n } = options;
  const id = at(idField, "id") ?? (idField === undefined && isBatch ? line.custom_id : undefined);
  const [query, documents] = [at(queryField, "query"), at(documentsField, "documents")];
  const given = { id, query, documents };
  for (const name of ["id", "query", "documents"] as const)
    if ((given[name] ?? undefined) === undefined)
      return `It has no field ${options[`${name}Field`] ?? name} (--${name}-field). ${namesIn(line)}`;
  if (typeof id !== "string" && !Number.isSafeInteger(id))
    return "Its id is no text and no whole number that can be read exactly.";
  // The fields have a fixed order, so that equal requests have equal fingerprints. Null counts as missing: a table that
  // was exported as JSON has null for missing values.
  const body: Record<string, unknown> = { query, documents };
  const model = options.model ?? (process.env[variables.rerankModel] || undefined);
  const defaults: Fields = { return_documents: false, model, top_n, task };
  for (const name of fieldNames) {
    const isTaken = Object.hasOwn(body, name) || [idField, queryField, documentsField].includes(name);
    const value = isTaken ? undefined : (valueAt(request, name) ?? defaults[name]);
    if (value !== undefined) body[name] = value;
  }
  const key = JSON.stringify(id);
  // The client rejects a request that is nested too deeply to be written.
  const fingerprint = fingerprintOf([key, orUndefined(() => JSON.stringify(body)) ?? "nested too deeply"]);
  return { id: id as Id, key, ...hashesOf(id as Id), body: body as unknown as RerankRequest, fingerprint };
}

export function fieldsIn(line: string): Fields | string {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : "It is not a JSON object.";
  } catch (error) {
    return `It is not JSON: ${(error as Error).message}.`;
  }
}

export function namesIn(fields: Fields): string {
  return `Its fields: ${Object.keys(fields).join(", ").slice(0, longestNames)}.`;
}

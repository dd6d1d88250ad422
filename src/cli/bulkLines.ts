// The lines of a bulk run's input: each is a request with an id, or it is named with what is wrong.
import { variables } from "../engine.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest } from "../index.js";
import { digestOf, fingerprintOf, type Id, type Shard, shardOf } from "./ids.js";
import { isObject, type Line } from "./input.js";
import type { AskedRow } from "./rows.js";

type Fields = Readonly<Record<string, unknown>>;

/** How lines become requests: where their fields are, and the values for fields that a line lacks. */
export interface LineFormat {
  /** The paths that the command line names. */
  readonly id: string | undefined;
  readonly query: string | undefined;
  readonly documents: string | undefined;
  readonly defaults: Fields;
  /** The shard whose lines this run reads; undefined: all lines. */
  readonly shard: Shard | undefined;
}

/** A line that is no request, and why. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
}

/** A line that is a request, even if the client or the service will reject it. */
export interface BulkRequest extends AskedRow {
  readonly line: number;
  readonly id: Id;
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

type FormatOptions = Partial<
  Record<"idField" | "queryField" | "documentsField" | "model" | "task" | "shard", string>
> & { readonly topN?: number };

export function formatOf(options: FormatOptions): LineFormat {
  const { idField: id, queryField: query, documentsField: documents, task, topN: top_n } = options;
  const model = options.model ?? (process.env[variables.rerankModel] || undefined);
  const shard = options.shard === undefined ? undefined : shardOf(options.shard);
  return { id, query, documents, shard, defaults: { return_documents: false, model, top_n, task } };
}

/** Reads a line; undefined if it is empty, or is one of another shard. A line without an id belongs to the first. */
export function readLine(line: Line, format: LineFormat): BulkRequest | BadLine | undefined {
  if (line.text !== undefined && /^\s*$/.test(line.text)) return undefined;
  const read = line.problem ?? requestIn(line.text, format);
  const { shard } = format;
  const own =
    shard === undefined || (typeof read === "string" ? 0 : read.hash.high % shard.count) === shard.index;
  if (!own) return undefined;
  return typeof read === "string" ? { line: line.number, problem: read } : { line: line.number, ...read };
}

const fieldNames = Object.keys(requests.rerankDocuments.body.properties);
const longestNames = 200;

// The request in a line, or why there is none.
function requestIn(text: string, format: LineFormat): Omit<BulkRequest, "line"> | string {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (error) {
    return `It is not JSON: ${(error as Error).message}.`;
  }
  if (!isObject(line)) return "It is not a JSON object.";
  // A line of a Batch API has its request in `body`, under an id of its own.
  const isBatch = !Object.hasOwn(line, "id") && Object.hasOwn(line, "custom_id") && isObject(line.body);
  const request = (isBatch ? line.body : line) as Fields;
  const at = (path: string | undefined, name: string): unknown =>
    path === undefined ? valueAt(request, name) : valueAt(line, path);
  const id = at(format.id, "id") ?? (format.id === undefined && isBatch ? line.custom_id : undefined);
  const [query, documents] = [at(format.query, "query"), at(format.documents, "documents")];
  const missing = Object.entries({ id, query, documents }).find(
    ([, value]) => (value ?? undefined) === undefined,
  );
  if (missing !== undefined) {
    const [name] = missing as ["id" | "query" | "documents", unknown];
    const names = Object.keys(line).join(", ").slice(0, longestNames);
    return `It has no field ${format[name] ?? name} (--${name}-field). Its fields: ${names}.`;
  }
  if (typeof id !== "string" && !Number.isSafeInteger(id))
    return "Its id is no text and no whole number that can be read exactly.";
  // The fields have a fixed order, so that equal requests have equal fingerprints. Null counts as missing: a table that
  // was exported as JSON has null for missing values.
  const body: Record<string, unknown> = { query, documents };
  for (const name of fieldNames) {
    const isTaken = Object.hasOwn(body, name) || [format.id, format.query, format.documents].includes(name);
    const value = isTaken ? undefined : (valueAt(request, name) ?? format.defaults[name]);
    if (value !== undefined) body[name] = value;
  }
  const key = JSON.stringify(id);
  const fingerprint = fingerprintOf([key, jsonOf(body)]);
  return { id: id as Id, key, hash: digestOf(key), body: body as unknown as RerankRequest, fingerprint };
}

function jsonOf(body: object): string {
  try {
    return JSON.stringify(body);
  } catch {
    // The client rejects such a request.
    return "nested too deeply";
  }
}

import { hash } from "node:crypto";
import { editsBetween, lettersOf } from "../../engine.js";
import { requests } from "../../generated/contract.js";
import type { RerankRequest } from "../../index.js";
import { digestOf, type Id, type IdHash, isInShard, type Shard } from "../checkpoints/ids.js";
import { orUndefined } from "../context.js";
import type { BadLine } from "../input/invalidLines.js";
import { isObject, lineJson, lineText } from "../input/lineContent.js";
import type { Line } from "../input/lines.js";
import { named } from "../terminal.js";
import {
  type DocumentsFormat,
  documentsProblem,
  isDocumentsField,
  lineDocumentIds,
  lineDocuments,
  ownField,
} from "./lineDocuments.js";

type RequestFields = Readonly<Record<string, unknown>>;

/** A line of the input that is a JSON object with an id: a request, even if its other fields are invalid. */
export class BulkRequest {
  readonly line: number;
  readonly id: Id;
  /** The id as JSON, so that the number 1 and the text "1" differ. */
  readonly key: string;
  readonly hash: IdHash;
  /** What {@link EarlierRows.resentOf} returned for this request, if it is to be sent. */
  resent: number | undefined;
  readonly #fields: RequestFields;
  readonly #reading: InputFormat;
  #body: RerankRequest | undefined;
  #fingerprint: string | undefined;

  constructor(line: number, id: Id, fields: RequestFields, reading: InputFormat) {
    this.line = line;
    this.id = id;
    this.key = JSON.stringify(id);
    this.hash = digestOf(this.key);
    this.#fields = fields;
    this.#reading = reading;
  }

  get body(): RerankRequest {
    this.#body ??= bodyOf(this.#fields, this.#reading);
    return this.#body;
  }

  /** All fields of the line, under the names that the line gives them. */
  get fields(): RequestFields {
    return this.#fields;
  }

  /** The request fields that the command line sets, and this line of the input sets to another value. */
  get ownInstead(): readonly string[] {
    const { given, defaults } = this.#reading;
    return given.filter((name) => {
      const own = ownOf(this.#fields, name, this.#reading);
      return own !== undefined && own !== ownField(defaults as RequestFields, name);
    });
  }

  /** Names of fields that are not sent and are probably typos: each is close to a request field that the line lacks. */
  get nearNames(): readonly string[] {
    return Object.keys(this.#fields).filter((name) => {
      const meant = nearField(name);
      if (meant === undefined || !hasValue(this.#fields, name)) return false;
      return !isNamed(name, this.#reading) && !hasValue(this.#fields, meant);
    });
  }

  /** The ids of the documents, in the order in which they are sent; undefined without `--document-id-field`. */
  get documentIds(): readonly Id[] | undefined {
    return lineDocumentIds(this.#fields, this.#reading);
  }

  /** What the request asks, whatever its id: requests with the same text have the same ranking. */
  get asked(): string {
    return jsonOf(this.body) ?? `only ${this.key}`;
  }

  /**
   * A hash of the id, the request body, the documents' ids and how documents are split. It is computed on first use,
   * because it is the most costly step.
   */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprintOf([
      ...[this.key, jsonOf(this.body) ?? "nested too deeply"],
      ...(this.documentIds === undefined ? [] : [JSON.stringify(this.documentIds)]),
      ...(this.#reading.split === undefined ? [] : [`split ${this.#reading.split}`]),
    ]);
    return this.#fingerprint;
  }
}

/** How lines become requests: the names of their fields, and the values for request fields that a line lacks. */
export interface InputFormat extends DocumentsFormat {
  /** The field with the id; undefined if a line's number is its id (`--id line`). */
  readonly idField: string | undefined;
  readonly queryField: string;
  readonly defaults: Partial<RerankRequest>;
  /** The names of the fields in `defaults` that were given as options on the command line. */
  readonly given: readonly string[];
  /** The letters of fields that are ignored in every line, however they spell them (`--ignore-fields`). */
  readonly ignored: ReadonlySet<string>;
  /** Documents with more characters than this are cut into parts (`--split`). */
  readonly split?: number | undefined;
  /** The shard whose lines this run reads; undefined: all lines. */
  readonly shard: Shard | undefined;
}

const fieldNames = Object.keys(requests.rerankDocuments.body.properties);
/** The fields of a request that a line may have besides a query and documents. */
export const otherFields: readonly string[] = fieldNames.filter(
  (name) => name !== "query" && name !== "documents",
);
const otherLetters = new Set(otherFields.map(lettersOf));

/** Whether a name is that of a request field besides the query and the documents, perhaps in another spelling. */
export function isOtherField(name: string): boolean {
  return otherLetters.has(lettersOf(name));
}

/** The request field that an unsent field's name probably means: the names differ in one letter. */
export function nearField(name: string): string | undefined {
  const letters = lettersOf(name);
  return isOtherField(name) ? undefined : otherFields.find((field) => isNear(letters, lettersOf(field)));
}

// Whether two names differ by one edit. This runs for each field of each line, so the edits are only counted if the
// names have nearly the same length.
function isNear(given: string, known: string): boolean {
  return Math.abs(given.length - known.length) <= 1 && editsBetween(given, known) === 1;
}

/** Whether a line belongs to a shard. One without an id belongs to the first, so that only one machine reports it. */
export function isOwn(line: BulkRequest | BadLine, { shard }: InputFormat): boolean {
  return line instanceof BulkRequest ? isInShard(line.hash, shard) : (shard?.index ?? 0) === 0;
}

/** Reads a line; returns undefined if it is empty. */
export function readLine(whole: Line, reading: InputFormat): BulkRequest | BadLine | undefined {
  const { number: line } = whole;
  const text = lineText(whole, "JSON lines");
  if (text.problem !== undefined) return { line, problem: text.problem };
  if (text.value.trim() === "") return undefined;
  const fields = lineJson(text.value);
  if (fields.problem !== undefined) return { line, problem: fields.problem };
  if (!isObject(fields.value)) return { line, problem: "It is not a JSON object." };
  return readFields(line, fields.value, reading);
}

const idAdvice = "name the id's field with --id-field, or number the lines with --id line.";

function readFields(line: number, fields: RequestFields, reading: InputFormat): BulkRequest | BadLine {
  const { idField } = reading;
  const id = idField === undefined ? line : ownField(fields, idField);
  if (idField !== undefined && (id ?? undefined) === undefined)
    return { line, problem: `It has no field ${named(idField)}: ${idAdvice}`, fields };
  if (typeof id === "number" && !Number.isSafeInteger(id))
    return { line, problem: "Its id is a number that cannot be read exactly: write it as text.", fields };
  if (typeof id !== "string" && typeof id !== "number")
    return { line, problem: "It has no id that is text or a whole number.", fields };
  const problem = documentsProblem(fields, reading);
  return problem === undefined ? new BulkRequest(line, id, fields, reading) : { line, problem, fields };
}

// The body of a line's request. Its fields have a fixed order, so that equal requests have equal fingerprints. Fields
// whose names do not resemble a field of the service are not sent: a file may hold other data too.
function bodyOf(fields: RequestFields, reading: InputFormat): RerankRequest {
  const { queryField, defaults } = reading;
  const body: Record<string, unknown> = {
    query: ownField(fields, queryField),
    documents: lineDocuments(fields, reading),
  };
  for (const name of otherFields) {
    const value = ownOf(fields, name, reading) ?? ownField(defaults as RequestFields, name);
    if (value !== undefined) body[name] = value;
  }
  // A misspelt field, such as `topN` for `top_n`, stays in the body: the client's error has the right spelling.
  for (const name of Object.keys(fields).sort()) {
    const isOther = !otherFields.includes(name) && isOtherField(name);
    if (isOther && ownOf(fields, name, reading) !== undefined) body[name] = fields[name];
  }
  return body as unknown as RerankRequest;
}

// The line's own value of a request field. Null counts as missing: a table exported as JSON has null for missing
// values.
function ownOf(fields: RequestFields, name: string, reading: InputFormat): unknown {
  return isNamed(name, reading) || reading.ignored.has(lettersOf(name))
    ? undefined
    : (ownField(fields, name) ?? undefined);
}

function hasValue(fields: RequestFields, name: string): boolean {
  return (ownField(fields, name) ?? undefined) !== undefined;
}

// Whether the command line names a field as the id, the query or the documents.
function isNamed(name: string, reading: InputFormat): boolean {
  return name === reading.idField || name === reading.queryField || isDocumentsField(name, reading);
}

// The body as JSON; undefined if it is nested too deeply for JSON.stringify. The client rejects such a request anyway.
function jsonOf(body: RerankRequest): string | undefined {
  return orUndefined(() => JSON.stringify(body));
}

/** The fingerprint of texts: 22 base64url characters of their SHA-256, at least 128 bits. */
export function fingerprintOf(texts: readonly string[]): string {
  return hash("sha256", `${texts.join("\n")}\n`, "base64url").slice(0, 22);
}

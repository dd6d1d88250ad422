import { hash } from "node:crypto";
import { requests } from "../../generated/contract.js";
import type { RerankRequest } from "../../index.js";
import { digestOf, type Id, type IdHash, isInShard, type Shard } from "../checkpoints/ids.js";
import { orUndefined } from "../context.js";
import { lineJson, lineText } from "../input/lineContent.js";
import type { Line } from "../input/lines.js";

type RequestFields = Readonly<Record<string, unknown>>;

/** A line of the input that is a request, whether or not its fields are right. */
export class BulkRequest {
  readonly line: number;
  readonly id: Id;
  /** The id as JSON, which tells 1 from "1". */
  readonly key: string;
  readonly hash: IdHash;
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

  /** The fields of the line, whatever they are called. */
  get fields(): RequestFields {
    return this.#fields;
  }

  /** The fields of a request that it has itself, and that the command line gives another value for. */
  get ownInstead(): readonly string[] {
    const { given, defaults } = this.#reading;
    return given.filter((name) => {
      const own = ownOf(this.#fields, name, this.#reading);
      return own !== undefined && own !== fieldOf(defaults as RequestFields, name);
    });
  }

  /** Stands for the id and all that is sent. It is made when it is asked for: it costs more than all else. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprintOf([this.key, jsonOf(this.body)]);
    return this.#fingerprint;
  }
}

/** A line that is none. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
}

/** What the lines of a file are called, and what is sent with those that do not say it themselves. */
export interface InputFormat {
  readonly idField: string;
  readonly queryField: string;
  readonly documentsField: string;
  readonly defaults: Partial<RerankRequest>;
  /** Those of the defaults that were given on the command line. */
  readonly given: readonly string[];
  /** The fields of lines that are not used. */
  readonly ignored: ReadonlySet<string>;
  /** The part of the lines that this machine reads; undefined for all of them. */
  readonly shard: Shard | undefined;
}

const fieldNames = Object.keys(requests.rerankDocuments.body.properties);
/** The fields of a request that a line may have besides a query and documents. */
export const otherFields: readonly string[] = fieldNames.filter(
  (name) => name !== "query" && name !== "documents",
);
const lettersOf = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();
const otherLetters = new Set(otherFields.map(lettersOf));

/** Reads a line; undefined when it is empty, or of another shard. What has no id is of shard 0: it is told once. */
export function readLine(line: Line, reading: InputFormat): BulkRequest | BadLine | undefined {
  const { shard } = reading;
  const read = requestOf(line, reading);
  const isOwn = read instanceof BulkRequest ? isInShard(read.hash, shard) : (shard?.index ?? 0) === 0;
  return isOwn ? read : undefined;
}

function requestOf(whole: Line, reading: InputFormat): BulkRequest | BadLine | undefined {
  const { number: line } = whole;
  const text = lineText(whole, "JSON lines");
  if (text.problem !== undefined) return { line, problem: text.problem };
  if (text.value.trim() === "") return undefined;
  const fields = lineJson(text.value);
  if (fields.problem !== undefined) return { line, problem: fields.problem };
  if (typeof fields.value !== "object" || fields.value === null || Array.isArray(fields.value))
    return { line, problem: "It is not a JSON object." };
  return readFields(line, fields.value as RequestFields, reading);
}

function readFields(line: number, fields: RequestFields, reading: InputFormat): BulkRequest | BadLine {
  const id = fieldOf(fields, reading.idField);
  if (typeof id === "number" && !Number.isSafeInteger(id))
    return { line, problem: "Its id is a number that cannot be read exactly: write it as text." };
  if (typeof id !== "string" && typeof id !== "number")
    return { line, problem: "It has no id that is text or a whole number." };
  return new BulkRequest(line, id, fields, reading);
}

// In one order, so that the same request has one fingerprint. Fields that are nothing like the service's are not sent: a
// file may hold more than the requests.
function bodyOf(fields: RequestFields, reading: InputFormat): RerankRequest {
  const { idField, queryField, documentsField, defaults } = reading;
  const body: Record<string, unknown> = {
    query: fieldOf(fields, queryField),
    documents: fieldOf(fields, documentsField),
  };
  for (const name of otherFields) {
    const value = ownOf(fields, name, reading) ?? fieldOf(defaults as RequestFields, name);
    if (value !== undefined) body[name] = value;
  }
  const named = new Set([idField, queryField, documentsField]);
  // A field in another spelling is refused by the client, which names the right one.
  for (const name of Object.keys(fields).sort()) {
    const isOther = !otherFields.includes(name) && otherLetters.has(lettersOf(name));
    if (isOther && !named.has(name) && fields[name] !== null) body[name] = fields[name];
  }
  return body as unknown as RerankRequest;
}

// Null means not given: tables that were written as JSON have it for each value that is missing.
function ownOf(fields: RequestFields, name: string, reading: InputFormat): unknown {
  const { idField, queryField, documentsField, ignored } = reading;
  const isNamed = name === idField || name === queryField || name === documentsField;
  return isNamed || ignored.has(name) ? undefined : (fieldOf(fields, name) ?? undefined);
}

function fieldOf(fields: RequestFields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

// What is nested too deeply for JSON is no request, and its client refuses it.
function jsonOf(body: RerankRequest): string {
  return orUndefined(() => JSON.stringify(body), undefined) ?? "nested too deeply";
}

/** Stands for texts: 128 bits of their SHA-256. */
export function fingerprintOf(texts: readonly string[]): string {
  return hash("sha256", `${texts.join("\n")}\n`, "base64url").slice(0, 22);
}

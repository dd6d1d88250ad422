// If the first 20 lines of a bulk run's input are all invalid in the same way, an option is probably wrong. The run says
// so, and stops before anything is sent.
import { checkSpelling, validate } from "../../engine.js";
import { requests } from "../../generated/contract.js";
import { isStatusError } from "../../index.js";
import { UsageError } from "../context.js";
import type { BadLine } from "../input/invalidLines.js";
import { isObject, namesIn } from "../input/lineContent.js";
import { named } from "../terminal.js";
import { BulkRequest } from "./bulkRequest.js";

const judged = 20;

/** The first lines of an input, whatever earlier runs have done of them, and the fault that all of them have. */
export class FirstLines {
  readonly #lines: (BulkRequest | BadLine)[] = [];
  #isOver = false;
  #hasOwn = false;

  /** Whether one line is valid, or invalid in another way: no further line is looked at. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether one of them is a JSON object. */
  get hasFields(): boolean {
    return this.#lines.some(({ fields }) => fields !== undefined);
  }

  /**
   * Looks at a line.
   * @param isOwn Whether it belongs to this run's shard
   * @throws UsageError if it is the 20th, and all are invalid in the same way
   */
  add(line: BulkRequest | BadLine, isOwn: boolean): void {
    if (this.#isOver) return;
    this.#hasOwn ||= isOwn;
    const fault = faultOf(line);
    const [first = line] = this.#lines;
    this.#isOver = fault === undefined || kindOf(line, fault) !== kindOf(first, faultOf(first));
    this.#lines.push(line);
    if (this.#isOver || this.#lines.length < judged) return;
    throw new UsageError(`${this.#text(`The first ${judged}`, "s are all")} Nothing was sent.`);
  }

  /** What to say of an input of fewer than 20 lines that are all invalid in the same way; undefined of any other. */
  get said(): string | undefined {
    const { length } = this.#lines;
    const [first] = this.#lines;
    // Lines that are no JSON objects need no common reason: each is reported with its own.
    if (this.#isOver || !this.#hasOwn || first?.fields === undefined) return undefined;
    return length === 1 ? this.#text("The only", " is") : this.#text(`All ${length}`, "s are");
  }

  #text(which: string, are: string): string {
    const first = this.#lines[0] as BulkRequest | BadLine;
    const what = this.#lines.every((line) => line instanceof BulkRequest) ? "request" : "line";
    return `${which} ${what}${are} invalid: ${faultOf(first)}${fieldsIn(first)}`;
  }
}

/** Why a line is no request, or the client would reject it; undefined if it is valid. */
export function faultOf(line: BulkRequest | BadLine): string | undefined {
  if (!(line instanceof BulkRequest)) return line.problem;
  const rules = requests.rerankDocuments.body;
  try {
    validate(line.body, rules, "body");
    checkSpelling(line.body, rules.properties, "body");
    return undefined;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.text;
  }
}

// The kind of a fault: its text without numbers and the line's fields. Lines that are no JSON object have one kind.
function kindOf({ fields }: BulkRequest | BadLine, fault: string | undefined): string | undefined {
  if (fields === undefined) return "";
  return fault?.replaceAll(/-?\d+(\.\d+)?| Its fields: .*/g, "");
}

function fieldsIn(line: BulkRequest | BadLine): string {
  if (line.fields === undefined) return "";
  const advice = line instanceof BulkRequest ? adviceFor(line) : "";
  return ` Line ${line.line} has ${namesIn(line.fields) || "no fields"}${advice}.`;
}

// Advises an option that may correct the request: one that names the documents' text field or the field of the query or
// the documents, or one that leaves a field out.
function adviceFor(request: BulkRequest): string {
  const { fields, body } = request;
  const fault = faultOf(request) ?? "";
  const [, at] = /\bdocuments\[(\d+)\] must be a string\b/.exec(fault) ?? [];
  if (at !== undefined)
    return isObject(body.documents[Number(at)])
      ? "; if documents are objects, name the field that holds their text with --text-field"
      : "";
  const field = (["query", "documents"] as const).find((name) => fault.includes(name));
  if (field === undefined) {
    const other = Object.keys(fields).find((name) => Object.hasOwn(body, name) && fault.includes(name));
    return other === undefined ? "" : `; --ignore-fields ${named(other)} leaves it out`;
  }
  const fits = (value: unknown): boolean =>
    field === "query" ? typeof value === "string" : Array.isArray(value);
  // The field has a value of the right type, so the fault is inside it, and no other field's name would help.
  if (fits(body[field])) return "";
  const fitting = Object.keys(fields).filter((name) => name !== "id" && fits(fields[name]));
  const [only] = fitting.length === 1 ? fitting : [];
  return only === undefined
    ? `; name the field that holds the ${field} with --${field}-field`
    : `; use --${field}-field ${named(only)}`;
}

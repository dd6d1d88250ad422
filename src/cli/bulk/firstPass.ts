import { type IdHash, IdTable, LineSet } from "../checkpoints/ids.js";
import { UsageError } from "../context.js";
import { FileContent } from "../input/fileContent.js";
import type { BadLine, InvalidLines } from "../input/invalidLines.js";
import { type InputRequest, rowsOf } from "../input/readInput.js";
import { named } from "../terminal.js";
import { BulkRequest, type InputFormat, isOwn, readLine } from "./bulkRequest.js";
import type { EarlierRows } from "./earlierRows.js";
import { FirstLines, faultOf } from "./firstLines.js";

interface FirstPass {
  readonly file: string;
  readonly input: InputRequest;
  readonly signal: AbortSignal;
  readonly reading: InputFormat;
  /** Reports the invalid lines; undefined without `--strict`. */
  readonly invalid?: InvalidLines | undefined;
  readonly earlier: EarlierRows;
}

export interface FirstPassResult {
  readonly requests: number;
  /** The numbers of the lines whose requests earlier runs have finished. */
  readonly done: LineSet;
  /** How many of the lines in `done` are invalid requests. */
  readonly wrong: number;
  /** How many of the lines in `done` were paid for without a usable result. */
  readonly paid: number;
  /** How many of the lines in `done` were ranked without documents that the service rejected. */
  readonly partly: number;
  /** For each field, how many of the lines to send have a value of their own, used instead of the command line's. */
  readonly ownInstead: ReadonlyMap<string, number>;
  /** For each field that is probably a misspelt request field, how many of the lines to send have it. */
  readonly nearNames: ReadonlyMap<string, number>;
  /** The content that this pass read. The line numbers in `done` are valid for this content only. */
  readonly content: FileContent;
  /** What to say of an input whose few lines are all invalid in the same way. */
  readonly allInvalid: string | undefined;
}

const shown = 5;

/**
 * Reads the whole input before anything is sent.
 * @throws UsageError if two lines have one id, the output has an id with another request, or the first 20 lines are
 * invalid in the same way; with `--strict`, if a line is invalid
 */
export async function firstPass(pass: FirstPass): Promise<FirstPassResult> {
  const { file, earlier, reading } = pass;
  const unused = new Set(reading.joinedFields);
  const content = new FileContent(file);
  const first = new FirstLines();
  const seen = new IdTable();
  const suspects = new Set<string>();
  const changed: number[] = [];
  const done = new LineSet();
  const ownInstead = new Map<string, number>();
  const nearNames = new Map<string, number>();
  const ended = { wrong: 0, paid: 0, partly: 0 };
  const see = (line: BulkRequest | BadLine): void => {
    first.add(line, isOwn(line, reading));
    for (const name of unused) if (hasField(line, name, reading)) unused.delete(name);
  };
  for await (const requests of requestsOf(pass, content, see)) {
    for (const request of requests) {
      if (seen.has(request.hash)) suspects.add(textOf(request.hash));
      else seen.add(request.hash, request.line);
      const found = earlier.find(request);
      if (found === "other") changed.push(request.line);
      else if (found === "no") {
        countEach(request.ownInstead, ownInstead);
        countEach(request.nearNames, nearNames);
      } else {
        done.add(request.line);
        if (found !== "done") ended[found] += 1;
      }
    }
  }
  pass.invalid?.refuse();
  if (unused.size > 0 && first.hasFields) throw unusedIn(unused);
  if (suspects.size > 0) await refuseDuplicates(pass, suspects);
  if (changed.length > 0) throw refusalOf(changed);
  return { requests: seen.size, done, ...ended, ownInstead, nearNames, content, allInvalid: first.said };
}

// Whether a line has the field `name` of `--documents-field`, or one field with the option's whole value as its name.
function hasField({ fields = {} }: BulkRequest | BadLine, name: string, reading: InputFormat): boolean {
  return Object.hasOwn(fields, name) || Object.hasOwn(fields, reading.documentsField);
}

function unusedIn(unused: ReadonlySet<string>): UsageError {
  const names = [...unused].map(named).join(" or ");
  return new UsageError(`No line has ${names}, which --documents-field names. Nothing was sent.`);
}

// Counts how often each name occurs, but only of the first few different names: if each line of a file has other fields,
// the counts of all would fill the memory.
function countEach(names: readonly string[], counts: Map<string, number>): void {
  for (const name of names) {
    const count = counts.get(name) ?? 0;
    if (count > 0 || counts.size < shown) counts.set(name, count + 1);
  }
}

// Yields the requests of the input file in arrays, one for each block of lines that is read.
async function* requestsOf(
  { input, signal, reading, invalid }: FirstPass,
  content: FileContent,
  see?: (line: BulkRequest | BadLine) => void,
): AsyncGenerator<readonly BulkRequest[]> {
  for await (const lines of rowsOf(content.see(signal), input)) {
    content.lines += lines.length;
    const requests: BulkRequest[] = [];
    for (const line of lines) {
      const read = readLine(line, reading);
      if (read === undefined) continue;
      see?.(read);
      if (!isOwn(read, reading)) continue;
      if (read instanceof BulkRequest) requests.push(read);
      const problem = invalid && faultOf(read);
      if (problem !== undefined) invalid?.add({ line: read.line, problem });
    }
    yield requests;
  }
}

const textOf = ({ high, low }: IdHash): string => `${high}.${low}`;

// Rejects ids that occur twice. Ids whose hash is in `suspects` are compared as text: two ids may have the same hash.
async function refuseDuplicates(pass: FirstPass, suspects: ReadonlySet<string>): Promise<void> {
  const lines = new Map<string, number>();
  const found: string[] = [];
  let count = 0;
  const see = ({ key, line, hash }: BulkRequest): void => {
    if (!suspects.has(textOf(hash))) return;
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    else if (++count <= shown) found.push(`line ${line} has the id of line ${first}`);
  };
  const content = new FileContent(pass.file);
  for await (const requests of requestsOf({ ...pass, invalid: undefined }, content))
    for (const request of requests) see(request);
  if (count === 0) return;
  const more = count > shown ? `, and ${count - shown} more` : "";
  throw new UsageError(`Each id may occur only once: ${found.join(", ")}${more}. Nothing was sent.`);
}

function refusalOf(changed: readonly number[]): UsageError {
  const lines = changed.slice(0, shown).join(", ");
  const more = changed.length > shown ? `, and ${changed.length - shown} more` : "";
  const s = changed.length === 1 ? "" : "s";
  return new UsageError(
    `Line${s} ${lines}${more}: the id is done in --output, but with another request or other options. Use another id, or name another --output. Nothing was sent.`,
  );
}

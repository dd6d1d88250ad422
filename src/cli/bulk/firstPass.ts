import { statSync } from "node:fs";
import { type IdHash, IdTable, LineSet } from "../checkpoints/ids.js";
import { linesOf, openInput } from "../checkpoints/lines.js";
import { UsageError } from "../context.js";
import { BulkRequest, type InputFormat, readLine } from "./bulkRequest.js";
import { type DoneRequests, isKnownWrong, type WrongRequests } from "./earlierRuns.js";

/** What a first pass over a file needs. */
export interface FirstPass {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly reading: InputFormat;
  readonly checkpoint: DoneRequests;
  readonly wrong: WrongRequests;
}

/** What a file holds. */
export interface FirstPassResult {
  readonly requests: number;
  /** Lines whose requests are done already. */
  readonly done: LineSet;
  /** Which file was read, and in which state: the lines of another are not those. */
  readonly state: string;
}

const shown = 5;

/** Reads a whole file before anything is sent. @throws UsageError when an id is there twice, or done with another request */
export async function firstPass(pass: FirstPass): Promise<FirstPassResult> {
  const { file, checkpoint, wrong } = pass;
  const state = rowState(file);
  const seen = new IdTable();
  const suspects = new Set<string>();
  const changed: number[] = [];
  const done = new LineSet();
  for await (const requests of requestsOf(pass)) {
    for (const request of requests) {
      if (seen.has(request.hash)) suspects.add(textOf(request.hash));
      else seen.add(request.hash, request.line);
      const known = checkpoint.find(request);
      if (known === "other") changed.push(request.line);
      if (known === "done" || isKnownWrong(wrong, request)) done.add(request.line);
    }
  }
  if (suspects.size > 0) await refuseDuplicates(pass, suspects);
  if (changed.length > 0) throw refusalOf(changed);
  return { requests: seen.size, done, state };
}

/** Which file a name means, and in which state it is. */
export function rowState(file: string): string {
  const { dev, ino, size, mtimeMs } = statSync(file);
  return [dev, ino, size, mtimeMs].join();
}

// The lines that are requests, many at once.
async function* requestsOf({ file, signal, reading }: FirstPass): AsyncGenerator<readonly BulkRequest[]> {
  for await (const lines of linesOf(openInput(file, signal))) {
    const requests: BulkRequest[] = [];
    for (const line of lines) {
      const request = readLine(line, reading);
      if (request instanceof BulkRequest) requests.push(request);
    }
    yield requests;
  }
}

const textOf = ({ high, low }: IdHash): string => `${high}.${low}`;

// Two ids may have one hash: only those with a hash that was there twice are compared as they are.
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
  for await (const requests of requestsOf(pass)) for (const request of requests) see(request);
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

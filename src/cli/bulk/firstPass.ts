import { UsageError } from "../context.js";
import { type BulkRequest, type Reading, readLine } from "./bulkRequest.js";
import type { Checkpoint } from "./checkpoint.js";
import { isKnownWrong, type WrongRequests } from "./errorsFile.js";
import { hashOf, type IdHash, IdTable } from "./idTable.js";
import { linesOf, openInput } from "./lines.js";

/** What a first pass over a file needs. */
export interface FirstPass {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly reading: Reading;
  readonly checkpoint: Checkpoint;
  readonly wrong: WrongRequests;
  /** Stands in a test for the hash of ids. */
  readonly hash?: (key: string) => IdHash;
}

/** What a file holds. */
export interface Found {
  readonly requests: number;
  /** Those that are done already. */
  readonly done: number;
}

const shown = 5;

/** Reads a whole file before anything is sent. @throws UsageError when an id is there twice, or done with another request */
export async function firstPass(pass: FirstPass): Promise<Found> {
  const { checkpoint, wrong, hash = hashOf } = pass;
  const seen = new IdTable();
  const suspects = new Set<string>();
  const changed: number[] = [];
  let done = 0;
  for await (const request of requestsOf(pass)) {
    const hashed = hash(request.key);
    if (seen.has(hashed)) suspects.add(`${hashed.high}.${hashed.low}`);
    else seen.add(hashed, request.line);
    const state = checkpoint.find(request, hashOf(request.key));
    if (state === "other") changed.push(request.line);
    if (state === "done" || isKnownWrong(wrong, request)) done += 1;
  }
  if (suspects.size > 0) await refuseDuplicates(pass, suspects, hash);
  if (changed.length > 0) throw refusalOf(changed);
  return { requests: seen.size, done };
}

/** The lines of a file that are requests. */
export async function* requestsOf({
  file,
  signal,
  reading,
}: Pick<FirstPass, "file" | "signal" | "reading">): AsyncGenerator<BulkRequest> {
  for await (const line of linesOf(openInput(file, signal))) {
    const request = readLine(line, reading);
    if (request !== undefined && !("problem" in request)) yield request;
  }
}

// Two ids may have one hash: only those with a hash that was there twice are compared as they are.
async function refuseDuplicates(
  pass: FirstPass,
  suspects: ReadonlySet<string>,
  hash: (key: string) => IdHash,
): Promise<void> {
  const lines = new Map<string, number>();
  const found: string[] = [];
  let count = 0;
  for await (const { key, line } of requestsOf(pass)) {
    const { high, low } = hash(key);
    if (!suspects.has(`${high}.${low}`)) continue;
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    else if (++count <= shown) found.push(`line ${line} has the id of line ${first}`);
  }
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

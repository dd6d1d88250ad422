import { rerankAll } from "../bulk/index.js";
import type { Client } from "../client.js";
import type { StatusCode } from "../errors/codes.js";
import { invalid, refusal, type StatusError } from "../errors/statusError.js";
import { attemptPolicy } from "../policy/types.js";
import { memberOf } from "../values.js";
import { mayRepeat } from "./queues.js";
import type { CallAids } from "./temporalCall.js";
import type {
  ActivitiesOptions,
  CallFailure,
  ChunkRequest,
  ChunkResult,
  ChunkSummary,
  FleetRate,
  ReadChunk,
} from "./temporalTypes.js";

/** What chunks are ranked with. */
export interface ChunkTools
  extends Pick<ActivitiesOptions, "readChunk" | "writePart" | "readParts" | "concurrency" | "timeoutMs"> {
  readonly client: Pick<Client, "rerank">;
  readonly partRows: number;
}

/** Which chunk, and what it may spend. */
export interface Chunk {
  readonly n: number;
  readonly reference: string | undefined;
  readonly rate: FleetRate | undefined;
}

const ofRerank = { operation: "rerankDocuments", notRetried: "refused" } as const;

/** Ranks what of a chunk is not written, and writes it part by part. @throws StatusError when no row can be ranked now */
export async function rankChunk(tools: ChunkTools, chunk: Chunk, aids: CallAids): Promise<ChunkSummary> {
  const { client, readChunk, writePart, readParts, partRows, concurrency, timeoutMs } = tools;
  const { n, reference, rate } = chunk;
  if (readChunk === undefined || writePart === undefined || readParts === undefined)
    throw invalid(
      "createActivities lacks one of readChunk, writePart and readParts: rerankChunk needs them.",
      ofRerank,
    );
  const left = byId(await readInput(readChunk, chunk), n);
  const of = left.size;
  const summary = { ranked: 0, failed: 0 };
  const count = (rows: readonly ChunkResult[]): void => {
    // A worker that was cut off may have written a row that another wrote too.
    for (const { id, error } of rows) if (left.delete(id)) summary[error ? "failed" : "ranked"] += 1;
    aids.onProgress({ chunk: n, done: of - left.size, of });
  };
  for (const rows of await readParts(n, reference)) count(rows);
  let part: ChunkResult[] = [];
  const write = async (): Promise<void> => {
    const rows = part;
    part = [];
    // No two parts have one name, so that none is written over, whoever else works on the chunk.
    await writePart(n, globalThis.crypto.randomUUID(), rows, reference);
    count(rows);
  };
  // Other workers have chunks too.
  const options = { concurrency, timeoutMs, rate, signal: aids.signal, [attemptPolicy]: true };
  try {
    for await (const { id, response, error } of rerankAll(client, [...left.values()], options)) {
      part.push(error ? { id, error: activityFailure(error) } : { id, response });
      if (part.length === partRows) await write();
    }
  } finally {
    // What was answered is kept, however the run ended.
    if (part.length > 0) await write();
  }
  return summary;
}

async function readInput(readChunk: ReadChunk, { n, reference }: Chunk): Promise<readonly ChunkRequest[]> {
  let cause: unknown;
  try {
    const requests = await readChunk(n, reference);
    if (requests) return requests;
  } catch (error) {
    if (memberOf(error, "code") !== "ENOENT") throw error;
    cause = error;
  }
  const list = reference === undefined ? "" : ` of ${JSON.stringify(reference)}`;
  const hint = "Put it where readChunk looks, and start the workflow again: it skips what is written.";
  throw refusal("NOT_FOUND", `There is no chunk ${n}${list} to read.`, { ...ofRerank, hint, cause });
}

function byId(requests: readonly ChunkRequest[], n: number): Map<string, ChunkRequest> {
  const rows = new Map<string, ChunkRequest>();
  for (const [row, request] of requests.entries()) {
    const id = memberOf(request, "id");
    if (typeof id !== "string")
      throw invalid(`Row ${row} of chunk ${n} has no id that is a string.`, ofRerank);
    if (rows.has(id)) throw invalid(`Two rows of chunk ${n} have the id ${JSON.stringify(id)}.`, ofRerank);
    rows.set(id, request);
  }
  return rows;
}

const optional = ["operation", "notRetried", "httpStatus", "requestId", "retryAfterMs", "path"] as const;

/** What of an error is kept in a workflow's history. Its body may be long, or hold what nobody wants there. */
export function activityFailure(error: StatusError): CallFailure {
  const { code, message, executed, executedBecause, attempts } = error;
  const known = optional.filter((name) => error[name] !== undefined).map((name) => [name, error[name]]);
  const optionals = Object.fromEntries(known);
  return { code, message, executed, executedBecause, ...optionals, requests: attempts.length };
}

/** What an ApplicationFailure is made of. */
export interface FailureOptions {
  readonly message: string;
  readonly type: StatusCode;
  readonly nonRetryable: boolean;
  readonly nextRetryDelay: number | undefined;
  readonly details: [CallFailure];
}

/** A failed call in Temporal's terms: its type is the code, and it is repeated only where that is allowed. */
export function failureOptions(error: StatusError): FailureOptions {
  const { message, code, retryAfterMs } = error;
  const nonRetryable = !mayRepeat(error);
  const nextRetryDelay = nonRetryable ? undefined : retryAfterMs;
  return { message, type: code, nonRetryable, nextRetryDelay, details: [activityFailure(error)] };
}

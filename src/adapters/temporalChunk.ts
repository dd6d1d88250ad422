import { rerankAll } from "../bulk/index.js";
import type { Client } from "../client.js";
import { invalid, refusal } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import { rankingError } from "../ranking/check.js";
import { Deadline } from "../transport/time.js";
import { memberOf } from "../values.js";
import type { CallAids } from "./temporalCall.js";
import { activityFailure } from "./temporalFailure.js";
import type {
  ActivitiesOptions,
  ChunkRequest,
  ChunkResult,
  ChunkSummary,
  FleetRate,
  ReadChunk,
} from "./temporalTypes.js";

/** The client, the functions and the options that all chunks are ranked with. */
export interface ChunkTools extends Omit<ActivitiesOptions, "openFile" | "maxResultBytes"> {
  readonly client: Pick<Client, "rerank">;
}

const ofRerank = { operation: "rerankDocuments", notRetried: "refused" } as const;

/**
 * Ranks the rows of a chunk that are not written yet, and writes them part by part.
 * @throws StatusError when no row can be ranked now
 */
export async function rankChunk(
  { client, readChunk, writePart, readParts, partRows = 50, concurrency, timeoutMs }: ChunkTools,
  { n, reference, rate }: { n: number; reference: string | undefined; rate: FleetRate | undefined },
  aids: CallAids,
): Promise<ChunkSummary> {
  if (readChunk === undefined || writePart === undefined || readParts === undefined)
    throw invalid(
      "readChunk",
      "createActivities lacks one of readChunk, writePart and readParts: rerankChunk needs them.",
      ofRerank,
    );
  const { time } = aids;
  const left = byId(await time.untilEnded(readInput(readChunk, n, reference)), n);
  const of = left.size;
  const summary = { ranked: 0, failed: 0 };
  const count = (rows: readonly ChunkResult[]): void => {
    // Two workers may have written the same row, if one was cut off from Temporal: such a row counts once.
    for (const { id, error } of rows) if (left.delete(id)) summary[error ? "failed" : "ranked"] += 1;
    aids.onProgress({ chunk: n, done: of - left.size, of });
  };
  for (const rows of await time.untilEnded(Promise.resolve(readParts(n, reference)))) count(rows);
  const unwritten: ChunkResult[] = [];
  const flush = async (): Promise<void> => {
    const rows = unwritten.splice(0);
    if (rows.length > 0) count(await tried(rows, time, (part, each) => writePart(n, part, each, reference)));
  };
  const { signal, timeoutMs: totalTimeoutMs } = aids.ending();
  const options = { concurrency, timeoutMs, totalTimeoutMs, rate, signal, sharesService: true };
  const requests = [...left.values()].map(withoutDocuments);
  try {
    for await (const { id, response, error } of rerankAll(client, requests, options)) {
      unwritten.push(error ? { id, error: activityFailure(error) } : { id, response });
      if (unwritten.length >= partRows) await flush();
    }
  } catch (error) {
    // Write the results that arrived before the run failed. The error to throw is the run's, even if writing fails.
    await flush().catch(() => {});
    throw error;
  }
  await flush();
  return summary;
}

// A store may fail for a moment. After three tries the activity's attempt fails, also after a cancellation: Temporal's
// next attempt ranks again the rows that were not written.
const mostTries = 3;
const firstWaitMs = 250;
// How long a try may take once the activity is over.
const graceMs = 5_000;

// Writes a part, and returns its rows as they were written. The part's name is unique, so that no part overwrites another,
// even one of another worker. All its tries use one name.
async function tried(
  given: readonly ChunkResult[],
  time: Deadline,
  write: (part: string, rows: readonly ChunkResult[]) => unknown,
): Promise<readonly ChunkResult[]> {
  const part = globalThis.crypto.randomUUID();
  let rows = given;
  for (let tries = 1; ; tries++) {
    try {
      await written(Promise.resolve(write(part, rows)), time);
      return rows;
    } catch (error) {
      if (tries === mostTries) throw error;
      rows = rows.map(writable);
      await new Promise((resolve) => setTimeout(resolve, firstWaitMs * tries));
    }
  }
}

// Waits for a write; once the activity is over, only for a while.
async function written(writing: Promise<unknown>, time: Deadline): Promise<unknown> {
  try {
    return await time.untilEnded(writing);
  } catch (error) {
    if (error !== time) throw error;
  }
  const grace = new Deadline([]);
  grace.limit({ timeoutMs: graceMs, attemptTimeoutMs: graceMs }, undefined);
  const code = time.ended === "aborted" ? "CANCELLED" : "DEADLINE_EXCEEDED";
  try {
    return await grace.untilEnded(writing);
  } catch (error) {
    if (error !== grace) throw error;
    throw rankingError(`writePart took over ${graceMs} ms.`, { code, notRetried: undefined });
  } finally {
    grace.dispose();
  }
}

// Returns the row, or an error row if it cannot be written as JSON: such a row would fail every write of its part.
function writable(row: ChunkResult): ChunkResult {
  try {
    JSON.stringify(row);
    return row;
  } catch (cause) {
    const text = "The response cannot be written as JSON: it is nested too deeply, or too long.";
    return { id: row.id, error: activityFailure(rankingError(text, { cause })) };
  }
}

/** Sets `return_documents` to false unless the request sets it: the documents are large, and the caller has them. */
export function withoutDocuments<T extends RerankRequest>(request: T): T {
  return { ...request, return_documents: memberOf(request, "return_documents") ?? false };
}

async function readInput(
  readChunk: ReadChunk,
  n: number,
  reference: string | undefined,
): Promise<readonly ChunkRequest[]> {
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
  throw refusal("NOT_FOUND", undefined, `There is no chunk ${n}${list} to read.`, {
    ...ofRerank,
    hint,
    cause,
  });
}

function byId(requests: readonly ChunkRequest[], n: number): Map<string, ChunkRequest> {
  const rows = new Map<string, ChunkRequest>();
  for (const [row, request] of requests.entries()) {
    const id = memberOf(request, "id");
    const isText = typeof id === "string";
    if (!isText || rows.has(id)) {
      const wrong = isText
        ? `Two rows of chunk ${n} have the id ${JSON.stringify(id)}.`
        : `Row ${row} of chunk ${n} has no id that is a string.`;
      throw invalid(`requests[${row}].id`, wrong, ofRerank);
    }
    rows.set(id, request);
  }
  return rows;
}

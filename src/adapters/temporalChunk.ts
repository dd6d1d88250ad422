import { rerankAll } from "../bulk/index.js";
import type { Client } from "../client.js";
import { invalid, refusal } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import { memberOf } from "../values.js";
import type { CallAids } from "./temporalCall.js";
import { activityFailure } from "./temporalFailure.js";
import { PartWriter } from "./temporalParts.js";
import type {
  ActivitiesOptions,
  ChunkRequest,
  ChunkResult,
  ChunkSummary,
  FleetRate,
  ReadChunk,
} from "./temporalTypes.js";

/** The client, the functions and the options that all chunks are ranked with. */
export interface ChunkTools
  extends Pick<ActivitiesOptions, "readChunk" | "writePart" | "readParts" | "concurrency" | "timeoutMs"> {
  readonly client: Pick<Client, "rerank">;
  readonly partRows: number;
}

/** The number of a chunk, the caller's reference, and the rate limit for this chunk. */
export interface Chunk {
  readonly n: number;
  readonly reference: string | undefined;
  readonly rate: FleetRate | undefined;
}

const ofRerank = { operation: "rerankDocuments", notRetried: "refused" } as const;

/**
 * Ranks the rows of a chunk that are not written yet, and writes them part by part.
 * @throws StatusError when no row can be ranked now
 */
export async function rankChunk(tools: ChunkTools, chunk: Chunk, aids: CallAids): Promise<ChunkSummary> {
  const { client, readChunk, writePart, readParts, partRows, concurrency, timeoutMs } = tools;
  const { n, reference, rate } = chunk;
  if (readChunk === undefined || writePart === undefined || readParts === undefined)
    throw invalid(
      "readChunk",
      "createActivities lacks one of readChunk, writePart and readParts: rerankChunk needs them.",
      ofRerank,
    );
  const left = byId(await readInput(readChunk, chunk, aids), n);
  const of = left.size;
  const summary = { ranked: 0, failed: 0 };
  const count = (rows: readonly ChunkResult[]): void => {
    // Two workers may have written the same row, if one was cut off from Temporal: such a row counts once.
    for (const { id, error } of rows) if (left.delete(id)) summary[error ? "failed" : "ranked"] += 1;
    aids.onProgress({ chunk: n, done: of - left.size, of });
  };
  for (const rows of await aids.prepare("readParts", () => readParts(n, reference))) count(rows);
  const parts = new PartWriter({
    partRows,
    signal: aids.signal,
    write: (part, rows) => aids.write("writePart", () => writePart(n, part, rows, reference)),
    written: count,
  });
  const options = { concurrency, timeoutMs, rate, signal: aids.signal, sharesService: true };
  const requests = [...left.values()].map(withoutDocuments);
  try {
    for await (const { id, response, error } of rerankAll(client, requests, options))
      await parts.add(error ? { id, error: activityFailure(error) } : { id, response });
  } catch (error) {
    // Write the results that arrived before the run failed. The error to throw is the run's, even if writing fails.
    await parts.flush().catch(() => {});
    throw error;
  }
  await parts.flush();
  return summary;
}

/** Sets `return_documents` to false unless the request sets it: the documents are large, and the caller has them. */
export function withoutDocuments<T extends RerankRequest>(request: T): T {
  return { ...request, return_documents: memberOf(request, "return_documents") ?? false };
}

async function readInput(
  readChunk: ReadChunk,
  { n, reference }: Chunk,
  { prepare }: CallAids,
): Promise<readonly ChunkRequest[]> {
  let cause: unknown;
  try {
    const requests = await prepare("readChunk", () => readChunk(n, reference));
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
    if (typeof id !== "string")
      throw invalid(`requests[${row}].id`, `Row ${row} of chunk ${n} has no id that is a string.`, ofRerank);
    if (rows.has(id))
      throw invalid(
        `requests[${row}].id`,
        `Two rows of chunk ${n} have the id ${JSON.stringify(id)}.`,
        ofRerank,
      );
    rows.set(id, request);
  }
  return rows;
}

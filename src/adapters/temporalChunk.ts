import type { Client } from "../client.js";
import { invalid, isStatusError } from "../errors/statusError.js";
import { ownProperties } from "../options/arguments.js";
import { memberOf } from "../values.js";
import { mayRepeat } from "./queues.js";
import type { CallAids } from "./temporalCall.js";
import { callFailure } from "./temporalFailure.js";
import type { ChunkRequest, ChunkResult, ChunkSummary, ReadChunk, WriteChunk } from "./temporalTypes.js";

/** What a chunk is ranked with. */
export interface ChunkTools {
  readonly client: Pick<Client, "rerank">;
  readonly readChunk: ReadChunk | undefined;
  readonly writeChunk: WriteChunk | undefined;
  readonly concurrency: number;
}

/** Reads a chunk, ranks all of it and writes the results. @throws StatusError when a repeat of the chunk may help */
export async function rankChunk(
  { client, readChunk, writeChunk, concurrency }: ChunkTools,
  [n, reference]: readonly [n: number, reference: string | undefined],
  aids: CallAids,
): Promise<ChunkSummary> {
  if (readChunk === undefined || writeChunk === undefined) {
    throw invalid("createActivities has no readChunk and writeChunk: rerankChunk needs both.", {
      operation: "rerankDocuments",
      notRetried: "refused",
    });
  }
  const requests = await readChunk(n, reference);
  const results: ChunkResult[] = new Array(requests.length);
  let done = 0;
  let ended = false;
  const rest = requests.entries();
  const work = async (): Promise<void> => {
    for (const [index, request] of rest) {
      if (ended) return;
      results[index] = await rank(client, request, aids);
      done += 1;
      aids.onProgress({ chunk: n, done, of: requests.length });
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, requests.length) }, () =>
    work().catch((error: unknown) => {
      ended = true;
      throw error;
    }),
  );
  // Those under way end before the activity does.
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  await writeChunk(n, results, reference);
  const failed = results.filter(({ error }) => error !== undefined).length;
  return { ranked: results.length - failed, failed };
}

// What a repeat may mend ends the chunk, and so does what would befall every other request; the rest is a result.
async function rank(
  client: Pick<Client, "rerank">,
  request: ChunkRequest,
  { signal }: CallAids,
): Promise<ChunkResult> {
  const id = memberOf(request, "id") as string;
  const { id: _, ...body } = ownProperties(request, `the request ${JSON.stringify(id)}`);
  try {
    return { id, response: await client.rerank(body, { signal }) };
  } catch (error) {
    if (!isStatusError(error) || mayRepeat(error) || endsAll.test(error.code)) throw error;
    return { id, error: callFailure(error) };
  }
}

const endsAll = /^(UNAUTHENTICATED|PERMISSION_DENIED|CANCELLED)$/;

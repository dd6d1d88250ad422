import type { RerankAllError, RerankAllRequest, RerankAllResult } from "../../src/bulk/index.js";
import { isStatusError } from "../../src/index.js";
import type { RecordingServer, Reply } from "./recordingServer.js";

const jsonType = { "content-type": "application/json" };

/** The ranking of one document. */
export const good: Reply = { json: { object: "list", data: [{ index: 0, relevance_score: 1 }] } };

/** Requests of one document, with the ids and queries "0", "1" and so on. */
export function requestsOf(count: number): RerankAllRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    query: `${index}`,
    documents: ["a"],
  }));
}

/** All results of a run. */
export async function collect<Id>(
  results: AsyncIterable<RerankAllResult<Id>>,
): Promise<RerankAllResult<Id>[]> {
  const all: RerankAllResult<Id>[] = [];
  for await (const result of results) all.push(result);
  return all;
}

/** What a run hands out, and how it ends. */
export async function endOf<Id>(
  results: AsyncIterable<RerankAllResult<Id>>,
): Promise<{ all: RerankAllResult<Id>[]; error: RerankAllError<Id> | undefined }> {
  const all: RerankAllResult<Id>[] = [];
  try {
    for await (const result of results) all.push(result);
    return { all, error: undefined };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { all, error: error as RerankAllError<Id> };
  }
}

/** Holds back the response to each request. @returns What sends each */
export function hold(server: RecordingServer, { status = 200, json }: Reply = good): (() => void)[] {
  const held: (() => void)[] = [];
  server.reply((_request, response) => {
    held.push(() => response.writeHead(status, jsonType).end(JSON.stringify(json)));
    return undefined;
  });
  return held;
}

import { requestIdOf } from "../call/answer.js";
import { memberOf } from "../errors/memberOf.js";
import { StatusError } from "../errors/statusError.js";
import type { RerankUsage } from "../generated/types.js";
import type { TransportResponse } from "../transport/transport.js";

/** A rerank answer whose items are those of the request. */
export interface Ranking {
  readonly data: readonly { readonly index: number; readonly score: number }[];
  readonly model: string | undefined;
  readonly usage: RerankUsage;
}

/** Reads a rerank answer. @throws StatusError `INTERNAL` when it names documents that were not sent. */
export function readRanking(
  answer: object,
  { status, headers }: TransportResponse,
  documents: readonly string[],
  key: string,
): Ranking {
  const broken = (what: string): StatusError =>
    new StatusError(`The ranking cannot be matched with what was sent: ${what}.`, {
      code: "INTERNAL",
      executed: "yes",
      codeSource: "client",
      operation: "rerankDocuments",
      httpStatus: status,
      requestId: requestIdOf(headers, key),
    });
  const data = memberOf(answer, "data");
  const model = memberOf(answer, "model");
  const usage = memberOf(answer, "usage");
  if (!Array.isArray(data)) throw broken("data is no list");
  const seen = new Set<number>();
  const read = data.map((entry: unknown, position) => {
    const index = memberOf(entry, "index");
    const score = memberOf(entry, "relevance_score");
    const document = memberOf(entry, "document");
    const known = Number.isInteger(index) && (index as number) >= 0 && (index as number) < documents.length;
    if (!known) throw broken(`data[${position}].index is not one of ${documents.length} documents`);
    if (seen.size === seen.add(index as number).size) throw broken(`index ${index} is there twice`);
    if (typeof score !== "number") throw broken(`data[${position}].relevance_score is no number`);
    // Asked for none, a service may still send the text, or an empty one.
    if (typeof document === "string" && document !== "" && document !== documents[index as number]) {
      throw broken(`the document of index ${index} is another`);
    }
    return { index: index as number, score };
  });
  return {
    data: read,
    model: typeof model === "string" ? model : undefined,
    usage: { prompt_tokens: count(usage, "prompt_tokens"), total_tokens: count(usage, "total_tokens") },
  };
}

function count(usage: unknown, name: keyof RerankUsage): number {
  const tokens = memberOf(usage, name);
  return typeof tokens === "number" ? tokens : 0;
}

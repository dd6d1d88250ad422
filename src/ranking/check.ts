import { readRerank, unusableResponse } from "../call/response.js";
import type { StatusErrorDetails } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { invalid, StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse, RerankResult } from "../generated/types.js";
import { memberOf } from "../values.js";

/** What of a request its response is checked by. */
export type RankedRequest = Pick<RerankRequest, "documents" | "top_n">;

/**
 * Checks that a response can be joined with the documents of its request, and hands it back best first. The response of
 * `client.rerank` is the service's own, as it came: pass it through this before you join by `index`. `rerank.items` and
 * `rerankAll` have done so already.
 *
 * It passes when each `index` is that of a document that was sent, counted from 0, and no index is there twice; when a
 * text that came back is that document's; and when no document is missing: all of them are there, or at least `top_n`.
 * Whatever else the response holds stays in it.
 *
 * @param request The body that was sent: its `documents` and its `top_n`.
 * @param response What the service responded.
 * @returns The response itself when it is in order; else a copy whose `data` is, highest `relevance_score` first.
 * @throws StatusError `INTERNAL` with `executed: "yes"` that says what is wrong; `INVALID_ARGUMENT` when `request` has no
 * list of documents.
 * @example
 * const { data } = checkRanking(request, await client.rerank(request));
 * const best = data.map(({ index }) => products[index]);
 */
export function checkRanking(request: RankedRequest, response: RerankResponse): RerankResponse {
  if (!Array.isArray(memberOf(request, "documents"))) throw invalid("request.documents must be a list.");
  const whole = readRerank(Object(response));
  const checked = whole instanceof Failure ? whole : joinable(request, whole);
  if (!(checked instanceof Failure)) return checked;
  throw rankingError(checked.message);
}

/** @internal The error of a rerank that was responded to with what is no result. It ran, and was paid for: it is not retried. */
export function rankingError(message: string, more?: Partial<StatusErrorDetails>): StatusError {
  return new StatusError(message, {
    code: "INTERNAL",
    executed: "yes",
    executedBecause: "success-began",
    codeSource: "client",
    operation: "rerankDocuments",
    notRetried: "not-transient",
    ...more,
  });
}

/** What a caller calls a document of the request, or several in a row, behind the number: ` (items[3])`. */
type Named = (document: number, last?: number) => string;

/**
 * @internal The one check that a ranking can be joined with what was sent, and the ranking best first; {@link Failure} with
 * what is wrong.
 * @param response One that `readRerank` has read.
 */
export function joinable(
  { documents, top_n }: RankedRequest,
  response: RerankResponse,
  named: Named = () => "",
): RerankResponse | Failure {
  const { data } = response;
  const seen = new Uint8Array(documents.length);
  let isOrdered = true;
  let last = Number.POSITIVE_INFINITY;
  for (const [position, entry] of data.entries()) {
    const wrong = wrongIn(entry, position, { documents, seen, named });
    if (wrong !== undefined) return broken(wrong);
    const { index, relevance_score: score } = entry;
    seen[index] = 1;
    isOrdered &&= score <= last;
    last = score;
  }
  const { length } = documents;
  const asked = typeof top_n === "number" ? Math.min(top_n, length) : length;
  if (data.length < asked && asked < length)
    return broken(`it has ${data.length} of the ${asked} documents that top_n asks for`);
  const missing = asked < length ? -1 : seen.indexOf(0);
  if (missing >= 0) return broken(`index ${missing} is missing${named(missing)}`);
  return isOrdered ? response : { ...response, data: [...data].sort(byRelevance) };
}

interface Sent {
  readonly documents: readonly string[];
  /** 1 for each document that was ranked by an entry before. */
  readonly seen: Uint8Array;
  readonly named: Named;
}

// Why an entry cannot be joined; undefined when it can.
function wrongIn(
  entry: RerankResult,
  position: number,
  { documents, seen, named }: Sent,
): string | undefined {
  const { index } = entry;
  const { length } = documents;
  if (index < 0 || index >= length)
    return `data[${position}].index is not one of ${length} documents${named(0, length - 1)}`;
  if (seen[index] === 1) return `index ${index} is there twice${named(index)}`;
  // Asked for none, a service may still send the text, or an empty one.
  const document = memberOf(entry, "document");
  return typeof document === "string" && document !== "" && document !== documents[index]
    ? `the document of index ${index} is another${named(index)}`
    : undefined;
}

function broken(what: string): Failure {
  return unusableResponse(`The ranking cannot be matched with what was sent: ${what}.`);
}

function byRelevance(a: RerankResult, b: RerankResult): number {
  return b.relevance_score - a.relevance_score;
}

import { readRerank, unusableResponse } from "../call/response.js";
import type { StatusErrorDetails } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { invalid, StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse, RerankResult } from "../generated/types.js";
import { memberOf } from "../values.js";

/** The fields of a request that its response is checked against. */
export type RankedRequest = Pick<RerankRequest, "documents" | "top_n">;

/**
 * Checks that a response can be joined with the documents of its request, and returns it best first. `client.rerank`
 * returns the service's response unchecked: pass it through this function before you join by `index`. `rerank.items`
 * and `rerankAll` have already checked theirs.
 *
 * A response passes if each `index` is that of a document that was sent, counted from 0, and no index is there twice;
 * if a text that came back is that document's; and if no document is missing: all are there, or at least `top_n`.
 * All other fields of the response are kept.
 *
 * @param request The body that was sent: its `documents` and its `top_n`.
 * @param response What the service responded.
 * @returns The response itself if it is sorted; else a copy whose `data` is sorted, highest `relevance_score` first.
 * @throws StatusError `INTERNAL` with `executed: "yes"` that tells why the response does not pass; `INVALID_ARGUMENT`
 * if `request` has no list of documents.
 * @example
 * const { data } = checkRanking(request, await client.rerank(request));
 * const best = data.map(({ index }) => products[index]);
 */
export function checkRanking(request: RankedRequest, response: RerankResponse): RerankResponse {
  if (!Array.isArray(memberOf(request, "documents")))
    throw invalid("request.documents", "request.documents must be a list.");
  const checked = joinable(request, readRerank(Object(response)));
  if (!(checked instanceof Failure)) return checked;
  throw rankingError(checked.message, { item: checked.item });
}

/** @internal The error of a rerank with an unusable response. The rerank ran and was paid for: it is not retried. */
export function rankingError(message: string, more?: Partial<StatusErrorDetails>): StatusError {
  return new StatusError(message, {
    code: "INTERNAL",
    executed: "yes",
    codeSource: "client",
    operation: "rerankDocuments",
    notRetried: "not-transient",
    ...more,
  });
}

/**
 * @internal Checks that a ranking can be joined with the documents that were sent. Returns it best first; a
 * {@link Failure} that tells why it cannot be joined.
 * @param response What `readRerank` returned.
 * @param named The caller's name of a document, or of several in a row, to append to a message: ` (items[3])`.
 */
export function joinable(
  request: RankedRequest,
  response: RerankResponse | Failure,
  named: (document: number, last?: number) => string = () => "",
): RerankResponse | Failure {
  if (response instanceof Failure) return response;
  const { data } = response;
  // The text of each document, or `true` once it was ranked. A copy costs less than a typed array.
  const left: (string | true)[] = request.documents.slice();
  const { length } = left;
  let isOrdered = true;
  let last = Number.POSITIVE_INFINITY;
  for (let position = 0; position < data.length; position++) {
    const entry = data[position] as RerankResult;
    const { index, relevance_score: score } = entry;
    if (index < 0 || index >= length) {
      const where = `data[${position}].index is outside the list of ${length} documents`;
      return broken(`${where}${named(0, length - 1)}`);
    }
    if (left[index] === true) return broken(`index ${index} is there twice${named(index)}`, index);
    // A service may send the document's text, or an empty one, although none was asked for.
    const document = memberOf(entry, "document");
    if (typeof document === "string" && document !== "" && document !== left[index])
      return broken(`the document of index ${index} is another${named(index)}`, index);
    left[index] = true;
    isOrdered &&= score <= last;
    last = score;
  }
  const top_n = memberOf(request, "top_n");
  const asked = typeof top_n === "number" ? Math.min(top_n, length) : length;
  if (data.length < asked && asked < length)
    return broken(`it has ${data.length} of the ${asked} documents that top_n asks for`);
  const missing = asked < length ? -1 : left.findIndex((document) => document !== true);
  if (missing >= 0) return broken(`index ${missing} is missing${named(missing)}`, missing);
  return isOrdered
    ? response
    : { ...response, data: [...data].sort((a, b) => b.relevance_score - a.relevance_score) };
}

function broken(what: string, item?: number): Failure {
  return unusableResponse(`The ranking cannot be matched with what was sent: ${what}.`, { item });
}

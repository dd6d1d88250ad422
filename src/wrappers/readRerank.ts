import { incomplete, type Unusable } from "../call/answer.js";
import { memberOf } from "../errors/memberOf.js";
import type { RerankResponse } from "../generated/types.js";

/**
 * A rerank's answer as it came; {@link Unusable} without what makes it a ranking. Whatever else it holds passes.
 * @param named Adds the caller's name of the document that an index is of.
 */
export function readRerank(answer: object, named?: (index: number) => string): RerankResponse | Unusable {
  const data = memberOf(answer, "data");
  if (!Array.isArray(data)) return incomplete("data is no list");
  for (let position = 0; position < data.length; position++) {
    const entry: unknown = data[position];
    const index = memberOf(entry, "index");
    if (!Number.isInteger(index)) return incomplete(`data[${position}].index is no whole number`);
    // 1e400 is read as Infinity.
    if (!Number.isFinite(memberOf(entry, "relevance_score")))
      return incomplete(
        `data[${position}].relevance_score is no finite number${named?.(index as number) ?? ""}`,
      );
  }
  return answer as RerankResponse;
}

import { incomplete, type Unusable } from "../call/answer.js";
import type { RerankResponse } from "../generated/types.js";
import { memberOf } from "../values.js";

/**
 * A rerank's answer as it came; {@link Unusable} without what makes it a ranking. Whatever else it holds passes.
 * @param named Adds the caller's name of the document that an index is of.
 */
export function readRerank(answer: object, named?: (index: number) => string): RerankResponse | Unusable {
  const data = memberOf(answer, "data");
  const lack = Array.isArray(data) ? lackIn(data, named) : "data";
  return lack ? incomplete(lack) : (answer as RerankResponse);
}

// The first field that an entry lacks; undefined when all have both.
function lackIn(data: readonly unknown[], named = (_: number) => ""): string | undefined {
  for (const [position, entry] of data.entries()) {
    const index = memberOf(entry, "index");
    if (!Number.isInteger(index)) return `data[${position}].index`;
    // 1e400 is read as Infinity.
    if (!Number.isFinite(memberOf(entry, "relevance_score")))
      return `data[${position}].relevance_score${named(index as number)}`;
  }
  return undefined;
}

import { incomplete, type Unusable } from "../call/answer.js";
import { memberOf } from "../errors/memberOf.js";
import type { RerankResponse } from "../generated/types.js";

/** A rerank's answer as it came; {@link Unusable} without what makes it a ranking. Whatever else it holds passes. */
export function readRerank(answer: object): RerankResponse | Unusable {
  const data = memberOf(answer, "data");
  if (!Array.isArray(data)) return incomplete("data");
  for (let position = 0; position < data.length; position++) {
    const field = lackOf(data[position]);
    if (field) return incomplete(`data[${position}].${field}`);
  }
  return answer as RerankResponse;
}

/** The field that an entry of a ranking lacks; undefined when it has both. */
export function lackOf(entry: unknown): "index" | "relevance_score" | undefined {
  if (!Number.isInteger(memberOf(entry, "index"))) return "index";
  // 1e400 is read as Infinity.
  return Number.isFinite(memberOf(entry, "relevance_score")) ? undefined : "relevance_score";
}

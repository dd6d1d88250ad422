import { incomplete, Unusable } from "../call/answer.js";
import { memberOf } from "../errors/memberOf.js";
import type { RerankUsage } from "../generated/types.js";
import { lackOf } from "./readRerank.js";

/** A rerank answer whose items are those of the request. */
export interface Ranking {
  readonly data: readonly { readonly index: number; readonly score: number }[];
  readonly model: string | undefined;
  readonly usage: RerankUsage;
}

/** What an answer has to rank. */
interface Sent {
  readonly documents: readonly string[];
  /** The caller's item that a document is of. */
  readonly itemOf: (document: number) => number;
}

/** Reads a rerank answer; {@link Unusable} unless it ranks every document that was sent, and no other. */
export function readRanking(answer: object, sent: Sent): Ranking | Unusable {
  const { documents, itemOf } = sent;
  const data = memberOf(answer, "data");
  const model = memberOf(answer, "model");
  const usage = memberOf(answer, "usage");
  if (!Array.isArray(data)) return incomplete("data");
  const scores = new Map<number, number>();
  for (const [position, entry] of data.entries()) {
    const unusable = faultOf(entry, position, sent, scores);
    if (unusable) return unusable;
    const { index, relevance_score: score } = entry;
    scores.set(index, score);
  }
  const missing = documents.findIndex((_, index) => !scores.has(index));
  if (missing >= 0) {
    return broken(
      `it has ${scores.size} of ${documents.length} documents; the first that is missing is of items[${itemOf(missing)}]`,
    );
  }
  return {
    data: Array.from(scores, ([index, score]) => ({ index, score })),
    model: typeof model === "string" ? model : undefined,
    usage: { prompt_tokens: count(usage, "prompt_tokens"), total_tokens: count(usage, "total_tokens") },
  };
}

function faultOf(
  entry: unknown,
  position: number,
  { documents, itemOf }: Sent,
  scores: ReadonlyMap<number, number>,
): Unusable | undefined {
  const lack = lackOf(entry);
  if (lack === "index") return incomplete(`data[${position}].index`);
  const { index } = entry as { index: number };
  const document = memberOf(entry, "document");
  const isSent = index >= 0 && index < documents.length;
  if (lack) return incomplete(`data[${position}].${lack}${isSent ? ` (items[${itemOf(index)}])` : ""}`);
  if (!isSent) {
    return broken(
      `data[${position}].index is not one of ${documents.length} documents (${itemsOf(itemOf(0), itemOf(documents.length - 1))})`,
    );
  }
  if (scores.has(index)) return broken(`index ${index} is there twice (items[${itemOf(index)}])`);
  // Asked for none, a service may still send the text, or an empty one.
  return typeof document === "string" && document !== "" && document !== documents[index]
    ? broken(`the document of index ${index} is another (items[${itemOf(index)}])`)
    : undefined;
}

function broken(what: string): Unusable {
  return new Unusable("INTERNAL", `The ranking cannot be matched with what was sent: ${what}.`);
}

/** Names a row of items. */
export function itemsOf(first: number, last: number): string {
  return first === last ? `items[${first}]` : `items[${first}] to items[${last}]`;
}

function count(usage: unknown, name: keyof RerankUsage): number {
  const tokens = memberOf(usage, name);
  return typeof tokens === "number" ? tokens : 0;
}

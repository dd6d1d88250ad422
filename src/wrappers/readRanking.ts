import { Unusable } from "../call/answer.js";
import { memberOf } from "../errors/memberOf.js";
import type { RerankUsage } from "../generated/types.js";
import { readRerank } from "./readRerank.js";

/** A rerank answer whose items are those of the request. */
export interface Ranking {
  readonly data: readonly { readonly index: number; readonly score: number }[];
  readonly model: string | undefined;
  readonly usage: RerankUsage;
}

/**
 * Reads a rerank answer; {@link Unusable} unless it ranks every document that was sent, and no other.
 * @param itemOf The caller's item that a document is of.
 */
export function readRanking(
  answer: object,
  documents: readonly string[],
  itemOf: (document: number) => number,
): Ranking | Unusable {
  const whole = readRerank(answer, (index) =>
    isIndex(index, documents.length) ? ` (items[${itemOf(index)}])` : "",
  );
  if (whole instanceof Unusable) return whole;
  const model = memberOf(answer, "model");
  const usage = memberOf(answer, "usage");
  const seen = new Set<number>();
  const read: { index: number; score: number }[] = [];
  for (const [position, entry] of whole.data.entries()) {
    const { index, relevance_score: score } = entry;
    const document = memberOf(entry, "document");
    if (!isIndex(index, documents.length)) {
      return broken(
        `data[${position}].index is not one of ${documents.length} documents (${itemsOf(itemOf(0), itemOf(documents.length - 1))})`,
      );
    }
    if (seen.size === seen.add(index).size)
      return broken(`index ${index} is there twice (items[${itemOf(index)}])`);
    // Asked for none, a service may still send the text, or an empty one.
    if (typeof document === "string" && document !== "" && document !== documents[index]) {
      return broken(`the document of index ${index} is another (items[${itemOf(index)}])`);
    }
    read.push({ index, score });
  }
  const missing = documents.findIndex((_, index) => !seen.has(index));
  if (missing >= 0) {
    return broken(
      `it has ${read.length} of ${documents.length} documents; the first that is missing is of items[${itemOf(missing)}]`,
    );
  }
  return {
    data: read,
    model: typeof model === "string" ? model : undefined,
    usage: { prompt_tokens: count(usage, "prompt_tokens"), total_tokens: count(usage, "total_tokens") },
  };
}

function broken(what: string): Unusable {
  return new Unusable("INTERNAL", `The ranking cannot be matched with what was sent: ${what}.`);
}

/** Names a row of items. */
export function itemsOf(first: number, last: number): string {
  return first === last ? `items[${first}]` : `items[${first}] to items[${last}]`;
}

function isIndex(value: number, length: number): boolean {
  return value >= 0 && value < length;
}

function count(usage: unknown, name: keyof RerankUsage): number {
  const tokens = memberOf(usage, name);
  return typeof tokens === "number" ? tokens : 0;
}

import { readRerank, UnusableAnswer } from "../call/answer.js";
import type { RerankUsage } from "../generated/types.js";
import { memberOf } from "../values.js";

/** A rerank answer whose items are those of the request. */
export interface Ranking {
  readonly data: readonly { readonly index: number; readonly score: number }[];
  readonly model: string | undefined;
  readonly usage: RerankUsage;
}

/**
 * Reads a rerank answer; {@link UnusableAnswer} unless it ranks every document that was sent, and no other.
 * @param itemOf The caller's item that a document is of.
 */
export function readRanking(
  answer: object,
  documents: readonly string[],
  itemOf: (document: number) => number,
): Ranking | UnusableAnswer {
  const { length } = documents;
  const named = (index: number): string => ` (items[${itemOf(index)}])`;
  const isSent = (index: number): boolean => index >= 0 && index < length;
  const whole = readRerank(answer, (index) => (isSent(index) ? named(index) : ""));
  if (whole instanceof UnusableAnswer) return whole;
  const model = memberOf(answer, "model");
  const usage = memberOf(answer, "usage");
  const scores = new Map<number, number>();
  for (const [position, entry] of whole.data.entries()) {
    const { index, relevance_score: score } = entry;
    const document = memberOf(entry, "document");
    if (!isSent(index)) {
      return broken(
        `data[${position}].index is not one of ${length} documents (${itemsOf(itemOf(0), itemOf(length - 1))})`,
      );
    }
    if (scores.has(index)) return broken(`index ${index} is there twice${named(index)}`);
    // Asked for none, a service may still send the text, or an empty one.
    if (typeof document === "string" && document !== "" && document !== documents[index]) {
      return broken(`the document of index ${index} is another${named(index)}`);
    }
    scores.set(index, score);
  }
  const missing = documents.findIndex((_, index) => !scores.has(index));
  if (missing >= 0) return broken(`index ${missing} is missing${named(missing)}`);
  return {
    data: Array.from(scores, ([index, score]) => ({ index, score })),
    model: typeof model === "string" ? model : undefined,
    usage: { prompt_tokens: count(usage, "prompt_tokens"), total_tokens: count(usage, "total_tokens") },
  };
}

function broken(what: string): UnusableAnswer {
  return new UnusableAnswer("INTERNAL", `The ranking cannot be matched with what was sent: ${what}.`);
}

export function itemsOf(first: number, last: number): string {
  return first === last ? `items[${first}]` : `items[${first}] to items[${last}]`;
}

function count(usage: unknown, name: keyof RerankUsage): number {
  const tokens = memberOf(usage, name);
  return typeof tokens === "number" ? tokens : 0;
}

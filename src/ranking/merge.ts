import { requestIdOf } from "../call/answer.js";
import type { Attempt } from "../errors/details.js";
import { invalid, StatusError } from "../errors/statusError.js";
import type { RerankUsage } from "../generated/types.js";
import { memberOf, notify } from "../values.js";
import type { Batch, Places } from "./plan.js";
import type { Ranking } from "./rank.js";
import type {
  ItemBatch,
  ItemRange,
  RankedItem,
  RerankItemsOptions,
  RerankItemsResponse,
  RerankPartial,
} from "./types.js";
export interface DoneBatch {
  readonly number: number;
  readonly batch: Batch;
  readonly places: Places;
  readonly ranking: Ranking;
  readonly attempts: readonly Attempt[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What is merged: what an earlier call had, and what this one has ranked. */
export interface Merged<T> {
  readonly items: readonly T[];
  readonly batches: readonly DoneBatch[];
  readonly before: RerankPartial<T> | undefined;
}

/** One order for the items of all batches. @throws StatusError `INTERNAL` when models differ: so would their scores. */
export function mergeRankings<T>(merged: Merged<T>, topN: number | undefined): RerankItemsResponse<T> {
  const attempts = merged.batches.flatMap((batch) => batch.attempts);
  const models = modelsOf(merged);
  if (models.length > 1) {
    throw new StatusError(`The batches were ranked by different models: ${models.join(", ")}.`, {
      code: "INTERNAL",
      executed: "yes",
      codeSource: "client",
      operation: "rerankDocuments",
      notRetried: "not-transient",
      attempts,
      hint: "Name the model in options, or send all items in one request.",
    });
  }
  return {
    data: rankedItems(merged).slice(0, topN),
    model: models[0],
    usage: usageOf(merged),
    requestIds: requestIdsOf(merged),
    attempts,
  };
}

/** The models that ranked; no more than one, when all is well. */
export function modelsOf<T>({ batches, before }: Merged<T>): readonly (string | undefined)[] {
  const models = new Set(batches.map(({ ranking }) => ranking.model));
  if (before !== undefined && before.data.length > 0) models.add(before.model);
  return [...models];
}

/** All items that were ranked, best first. An item of several parts has the score of the best of them. */
export function rankedItems<T>({ items, batches, before }: Merged<T>): RankedItem<T>[] {
  const isSplit = batches.some(({ places }) => places.partOf(0) !== undefined);
  const ranked = batches.flatMap(({ places, ranking }) =>
    ranking.data.map(({ index: document, score }) => {
      const index = places.itemOf(document);
      const part = places.partOf(document);
      const entry = { item: items[index] as T, index, score };
      return part === undefined ? entry : { ...entry, part };
    }),
  );
  const earlier = (before?.data ?? []).map((entry) => ({ ...entry, item: items[entry.index] as T }));
  const all = [...earlier, ...(isSplit ? bestParts(ranked) : ranked)];
  return all.sort(byScore);
}

function bestParts<T>(parts: readonly RankedItem<T>[]): RankedItem<T>[] {
  const best = new Map<number, RankedItem<T>>();
  for (const entry of parts) {
    const found = best.get(entry.index);
    const isBetter =
      found === undefined ||
      entry.score > found.score ||
      (entry.score === found.score && (entry.part ?? 0) < (found.part ?? 0));
    if (isBetter) best.set(entry.index, entry);
  }
  return [...best.values()];
}

function byScore(a: RankedItem<unknown>, b: RankedItem<unknown>): number {
  return b.score - a.score || a.index - b.index;
}

export function usageOf<T>({ batches, before }: Merged<T>): RerankUsage {
  const none = { prompt_tokens: 0, total_tokens: 0 };
  return batches.reduce(sum, before?.usage ?? none);
}

/** The ids of the answers that had one. */
export function requestIdsOf<T>({ batches, before }: Merged<T>): string[] {
  const ids = batches.map(({ headers }) => requestIdOf(headers)).filter((id) => id !== undefined);
  return [...(before?.requestIds ?? []), ...ids];
}

function sum({ prompt_tokens, total_tokens }: RerankUsage, { ranking: { usage } }: DoneBatch): RerankUsage {
  return {
    prompt_tokens: prompt_tokens + usage.prompt_tokens,
    total_tokens: total_tokens + usage.total_tokens,
  };
}

interface BatchListener<T> {
  readonly items: readonly T[];
  readonly batches: readonly unknown[];
  readonly options: Pick<RerankItemsOptions<T>, "onBatch">;
}

export function notifyBatch<T>(
  { items, batches, options }: BatchListener<T>,
  ranked: DoneBatch,
  done: number,
): void {
  const { onBatch } = options;
  if (onBatch === undefined) return;
  const { number, batch, ranking } = ranked;
  const { offset, count } = batch;
  notify(onBatch, {
    batch: number,
    offset,
    count,
    data: rankedItems({ items, batches: [ranked], before: undefined }),
    model: ranking.model,
    usage: ranking.usage,
    done,
    batches: batches.length,
  });
}

/** What stands for the requests of a call: one hash each of its texts, its query and its other fields. */
export class CallHash {
  readonly #texts = new TextHash();
  readonly #body: object;

  constructor(body: object) {
    this.#body = body;
  }

  add(texts: readonly string[]): void {
    for (const text of texts) this.#texts.add(text);
  }

  toString(): string {
    const given = Object.entries(this.#body).filter(([, value]) => value !== undefined);
    const query = given.find(([name]) => name === "query")?.[1];
    const others = given.filter(([name]) => name !== "query").sort(([a], [b]) => (a < b ? -1 : 1));
    return [this.#texts, hashOf(String(query)), hashOf(JSON.stringify(others))].join(".");
  }
}

function hashOf(text: string): TextHash {
  return new TextHash().add(text);
}

/** Checks that a call continues the one that `partial` is of. @throws StatusError that says what differs */
export function checkContinues(partial: RerankPartial<unknown>, fingerprint: string): void {
  const before = partial.fingerprint.split(".");
  const now = fingerprint.split(".");
  const what = ["the items", "the query", "the model, the task or another field"];
  const different = what.filter((_, at) => before[at] !== now[at]);
  if (different.length > 0)
    throw invalid(`continueFrom is from another call: ${different.join(", ")} differ.`, {
      hint: "Pass the failed call's arguments, or leave continueFrom out.",
    });
}

/** Checks a partial that may come from a file. @throws StatusError */
export function checkPartial(value: unknown, count: number): RerankPartial<unknown> {
  const [data, missing, fingerprint] = ["data", "missing", "fingerprint"].map((name) =>
    memberOf(value, name),
  );
  const isWhole =
    Array.isArray(data) &&
    data.every(
      (entry) => isPosition(memberOf(entry, "index"), count) && typeof memberOf(entry, "score") === "number",
    ) &&
    Array.isArray(missing) &&
    missing.every((range) => isRange(range, count)) &&
    typeof fingerprint === "string";
  if (isWhole) return value as RerankPartial<unknown>;
  throw invalid("continueFrom must be the partial of a failed call for as many items.");
}

function isPosition(value: unknown, count: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < count;
}

function isRange(range: unknown, count: number): boolean {
  const length = memberOf(range, "count");
  const offset = memberOf(range, "offset");
  return isPosition(offset, count) && isPosition((offset as number) + (length as number) - 1, count);
}

/** What a failed call has ranked. @param planned All batches of the call */
export function partialOf<T>(
  merged: Merged<T>,
  planned: readonly Batch[],
  failed: ItemBatch,
  fingerprint: string,
): RerankPartial<T> {
  const done = new Set(merged.batches.map(({ number }) => number));
  const missing = joined(planned.filter((_, number) => !done.has(number)));
  const isMissing = (index: number): boolean =>
    missing.some(({ offset, count }) => index >= offset && index < offset + count);
  return {
    // An item with parts in a batch that is missing may have its best part there.
    data: rankedItems(merged).filter(({ index }) => !isMissing(index)),
    model: modelsOf(merged)[0],
    usage: usageOf(merged),
    requestIds: requestIdsOf(merged),
    missing,
    failed,
    fingerprint,
  };
}

// Batches come in the order of their items.
function joined(batches: readonly Batch[]): ItemRange[] {
  const ranges: { offset: number; count: number }[] = [];
  for (const { offset, count } of batches) {
    const last = ranges.at(-1);
    if (last !== undefined && offset <= last.offset + last.count)
      last.count = Math.max(last.count, offset + count - last.offset);
    else ranges.push({ offset, count });
  }
  return ranges;
}

/** A running hash of texts, to see whether they are the same again: 53 bits, and no secret. */
class TextHash {
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;

  add(text: string): this {
    // Its length goes in as well: ["ab", "c"] is not ["a", "bc"].
    this.#mix(text.length);
    for (let at = 0; at < text.length; at++) this.#mix(text.charCodeAt(at));
    return this;
  }

  toString(): string {
    let { high, low } = { high: this.#high, low: this.#low };
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16);
  }

  #mix(unit: number): void {
    this.#high = Math.imul(this.#high ^ unit, 2654435761);
    this.#low = Math.imul(this.#low ^ unit, 1597334677);
  }
}

import { readRerank, requestIdOf, seenOf } from "../call/response.js";
import type { Attempt } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { sentences } from "../errors/hints.js";
import { detailsOf, isStatusError, refusal, StatusError } from "../errors/statusError.js";
import type { RerankUsage } from "../generated/types.js";
import { nothingSent, type Ran, worse } from "../policy/retry.js";
import { ranWell } from "../policy/run.js";
import type { TransportResponse } from "../transport/exchange.js";
import { memberOf } from "../values.js";
import { joinable, rankingError } from "./check.js";
import { type Batch, type BatchDocument, itemsOf } from "./plan.js";
import type { ItemBatch, RankedItem, RerankItemsResponse, RerankPartial } from "./types.js";

/** A rerank response that was checked against the documents of its request, by the items that they are. */
export interface Ranking {
  readonly data: readonly Omit<RankedItem<unknown>, "item">[];
  readonly model: string | undefined;
  readonly usage: RerankUsage;
}

/** Reads a rerank response; a {@link Failure} unless it ranks every document that was sent, and no other. */
export function readRanking(response: object, documents: readonly BatchDocument[]): Ranking | Failure {
  const itemOf = (document: number): number => (documents[document] as BatchDocument).item;
  const named = (first: number, last = first): string => ` (${itemsOf(itemOf(first), itemOf(last))})`;
  const read = readRerank(response, (index) => (index in documents ? named(index) : ""));
  const whole = joinable({ documents: documents.map(({ text }) => text) }, read, named);
  if (whole instanceof Failure)
    return whole.item === undefined ? whole : Object.assign(whole, { item: itemOf(whole.item) });
  const model = memberOf(response, "model");
  const tokens = (name: keyof RerankUsage): number => {
    const count = memberOf(memberOf(response, "usage"), name);
    return typeof count === "number" ? count : 0;
  };
  return {
    data: whole.data.map(({ index: document, relevance_score: score }) => {
      const { item: index, part } = documents[document] as BatchDocument;
      return part === undefined ? { index, score } : { index, score, part };
    }),
    model: typeof model === "string" ? model : undefined,
    usage: { prompt_tokens: tokens("prompt_tokens"), total_tokens: tokens("total_tokens") },
  };
}

export interface DoneBatch {
  readonly number: number;
  readonly ranking: Ranking;
  readonly attempts: readonly Attempt[];
  /** Undefined for a batch of `rerankAll`, whose results have no response. */
  readonly response: TransportResponse | undefined;
}

/** What came of the batches of one request, which `rerank.items` and `rerankAll` present in their own ways. */
export class BatchResults<T> {
  readonly items: readonly T[];
  /** The partial result of an earlier call. */
  readonly before: RerankPartial<T> | undefined;
  /** The batches that were ranked, in the order in which they ended. */
  readonly batches: DoneBatch[] = [];
  /** The attempts of all batches that ended. */
  readonly attempts: Attempt[] = [];
  /** Whether any of the attempts ran the operation. */
  ran: Ran = nothingSent;

  constructor(items: readonly T[], before?: RerankPartial<T>) {
    this.items = items;
    this.before = before;
  }

  ranked(batch: DoneBatch): void {
    this.batches.push(batch);
    this.#add(batch.attempts, ranWell);
  }

  failed(error: unknown): void {
    if (isStatusError(error)) this.#add(error.attempts, error);
  }

  #add(attempts: readonly Attempt[], ran: Ran): void {
    this.attempts.push(...attempts);
    this.ran = worse(this.ran, ran);
  }
}

type Merged<T> = Pick<BatchResults<T>, "items" | "batches" | "before">;

/** Merges the items of all batches into one order. @throws StatusError `INTERNAL` if models, and so scores, differ. */
export function mergeRankings<T>(merged: Merged<T>, topN: number | undefined): RerankItemsResponse<T> {
  const attempts = merged.batches.flatMap((batch) => batch.attempts);
  const models = modelsOf(merged);
  if (models.length > 1) {
    const hint = "Name the model in options, or send all items in one request.";
    throw rankingError(`The batches were ranked by different models: ${models.join(", ")}.`, {
      attempts,
      hint,
    });
  }
  const ranked = rankedBy(merged);
  const response = merged.batches.at(-1)?.response;
  return { ...ranked, data: ranked.data.slice(0, topN), attempts, ...(response && seenOf(response)) };
}

/** The items that were ranked, best first, and what ranked them. */
function rankedBy<T>(merged: Merged<T>): Omit<RerankItemsResponse<T>, "attempts"> {
  const { batches, before } = merged;
  const ids = batches
    .map(({ response }) => response && requestIdOf(response.headers))
    .filter((id) => id !== undefined);
  const sum = (name: keyof RerankUsage): number =>
    batches.reduce((total, { ranking }) => total + ranking.usage[name], before?.usage[name] ?? 0);
  return {
    data: rankedItems(merged),
    model: modelsOf(merged)[0],
    usage: { prompt_tokens: sum("prompt_tokens"), total_tokens: sum("total_tokens") },
    requestIds: [...(before?.requestIds ?? []), ...ids],
  };
}

// The models that ranked the items; normally only one.
function modelsOf<T>({ batches, before }: Merged<T>): readonly (string | undefined)[] {
  const models = new Set(batches.map(({ ranking }) => ranking.model));
  if (before !== undefined && before.data.length > 0) models.add(before.model);
  return [...models];
}

/** All items that were ranked, best first. An item of several parts has the score of its best part. */
export function rankedItems<T>({ items, batches, before }: Merged<T>): RankedItem<T>[] {
  const earlier = before?.data ?? [];
  const ranked = [...earlier, ...batches.flatMap(({ ranking }) => ranking.data)];
  ranked.sort((a, b) => b.score - a.score || a.index - b.index || (a.part ?? 0) - (b.part ?? 0));
  const best = new Map<number, (typeof ranked)[number]>();
  for (const entry of ranked) if (!best.has(entry.index)) best.set(entry.index, entry);
  return [...best.values()].map((entry) => {
    const own = { item: items[entry.index] as T };
    return Object.assign({ ...own, ...entry }, own);
  });
}

/** The partial result of a failed call. @param planned All batches of the call */
export function partialOf<T>(
  merged: Merged<T>,
  planned: readonly Batch[],
  failed: ItemBatch,
  fingerprint: string,
): RerankPartial<T> {
  const done = new Set(merged.batches.map(({ number }) => number));
  const missing: { offset: number; count: number }[] = [];
  // Batches are in the order of their items: ranges that touch or overlap become one.
  for (const { offset, count } of planned.filter((_, number) => !done.has(number))) {
    const last = missing.at(-1);
    if (last !== undefined && offset <= last.offset + last.count)
      last.count = Math.max(last.count, offset + count - last.offset);
    else missing.push({ offset, count });
  }
  const isMissing = (index: number): boolean =>
    missing.some(({ offset, count }) => index >= offset && index < offset + count);
  const ranked = rankedBy(merged);
  // An item with parts in a missing batch is left out: its best part may be there.
  const data = ranked.data.filter(({ index }) => !isMissing(index));
  return { ...ranked, data, missing, failed, fingerprint };
}

/**
 * The error of a call with a failed batch: it has all attempts of the call.
 * @param batch The batch if the call has several, else undefined.
 * @param item The index of the caller's item that is at fault, if it is known.
 */
export function errorOfBatches(
  error: unknown,
  { attempts, ran }: { readonly attempts: readonly Attempt[]; readonly ran: Ran },
  batch?: ItemBatch,
  item?: number,
): StatusError {
  const failed = isStatusError(error)
    ? error
    : refusal("INTERNAL", undefined, "The client failed; please report this.", {
        cause: error,
        notRetried: "not-transient",
      });
  // An error of this client names the item itself, but for that of a call that was ended.
  const isEnded = failed.code === "DEADLINE_EXCEEDED" || failed.code === "CANCELLED";
  const isNamed = batch === undefined || (failed.codeSource === "client" && !isEnded);
  const { offset, count } = batch ?? { offset: 0, count: 0 };
  const where = isNamed ? "" : `This was batch ${batch.batch}, ${itemsOf(offset, offset + count - 1)}.`;
  const { executed, executedBecause } = ran;
  const whole = { operation: "rerankDocuments", executed, executedBecause, attempts } as const;
  const details = { ...detailsOf(failed), ...whole, item: failed.item ?? item };
  return new StatusError(sentences(failed.text, where), details);
}

/** Whether the service rejected a request because of its content. Such a request is assumed not to have run. */
export function isRejection({ code, codeSource, executed }: StatusError): boolean {
  const isInvalid = code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE";
  return isInvalid && executed === "no" && (codeSource === "body" || codeSource === "status");
}

import { invalid } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import { checkInteger } from "../options/arguments.js";
import { CallHash, checkContinues, checkPartial } from "./partialRanking.js";
import {
  type Batch,
  type BatchDocuments,
  type BatchLimits,
  documentsOf,
  jsonBytes,
  planBatches,
} from "./planBatches.js";
import type { RerankItemsOptions, RerankPartial, TextsOf } from "./types.js";

interface PlannedItems<T> {
  readonly batches: readonly Batch[];
  readonly documentsOf: (batch: number) => BatchDocuments;
  readonly before: RerankPartial<T> | undefined;
  /** What stands for the call, so that it can be continued. */
  readonly fingerprint: () => string;
}

/** Checks every text, and puts the items that are to be sent into batches. @throws StatusError */
export function planItems<T>(
  items: readonly T[],
  options: RerankItemsOptions<T>,
  body: Omit<RerankRequest, "documents">,
): PlannedItems<T> {
  const { split, continueFrom } = options;
  const limits = limitsOf(options, body);
  const textsOf = textsOfItems(items, options.text, split);
  const before = continueFrom === undefined ? undefined : checkPartial(continueFrom, items.length);
  const hash = new CallHash(body);
  const kept: (readonly string[])[] = [];
  // In one request the texts are kept; a hash of them is made only when it fails.
  const isHashed = [options.batchSize, limits.maxBatchBytes, before].some((each) => each !== undefined);
  // What is done already is hashed as well: it must be what the earlier call was given.
  if (before !== undefined) for (let index = 0; index < items.length; index++) hash.add(textsOf(index));
  const ranges = before?.missing ?? [{ offset: 0, count: items.length }];
  const planned = planBatches(ranges, textsOf, limits, (texts, index) => {
    if (before === undefined && isHashed) hash.add(texts);
    if (kept.length < limits.batchSize && before === undefined) kept[index] = texts;
  });
  const first = planned[0];
  const isFirstKept = before === undefined && first !== undefined && first.parts === undefined;
  kept.length = isFirstKept ? first.count : 0;
  const fingerprint = (): string => {
    if (!isHashed) for (const texts of kept) hash.add(texts);
    return hash.toString();
  };
  if (before !== undefined) checkContinues(before, fingerprint());
  return {
    batches: planned,
    documentsOf: (batch) =>
      documentsOf(
        planned[batch] as Batch,
        (index) => (batch === 0 ? kept[index] : undefined) ?? textsOf(index),
        split !== undefined,
      ),
    before: before as RerankPartial<T> | undefined,
    fingerprint,
  };
}

function limitsOf<T>(
  { batchSize = Number.MAX_SAFE_INTEGER, maxBatchBytes }: RerankItemsOptions<T>,
  body: Omit<RerankRequest, "documents">,
): BatchLimits {
  checkInteger(batchSize, "batchSize", 1);
  if (maxBatchBytes === undefined) return { batchSize, maxBatchBytes, baseBytes: 0 };
  checkInteger(maxBatchBytes, "maxBatchBytes", 1);
  return { batchSize, maxBatchBytes, baseBytes: jsonBytes({ ...body, documents: [] }) };
}

/** Makes that function of the caller's own, which are checked as they are called. */
function textsOfItems<T>(
  items: readonly T[],
  text: (item: T, index: number) => string,
  split: ((text: string, item: T) => readonly string[]) | undefined,
): TextsOf {
  if (typeof text !== "function") throw invalid("text must be a function.");
  if (split !== undefined && typeof split !== "function") throw invalid("split must be a function.");
  return (index) => {
    const item = items[index] as T;
    const whole = called("text", index, () => text(item, index));
    if (typeof whole !== "string")
      throw invalid(`text must give a string for items[${index}], not ${typeOf(whole)}.`);
    if (split === undefined) return [whole];
    const parts = called("split", index, () => split(whole, item));
    if (!Array.isArray(parts) || parts.length === 0 || parts.some((part) => typeof part !== "string"))
      throw invalid(`split must give a list of at least 1 string for items[${index}].`);
    return parts;
  };
}

function called<R>(name: string, index: number, call: () => R): R {
  try {
    return call();
  } catch (cause) {
    throw invalid(`${name} failed for items[${index}].`, { cause });
  }
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

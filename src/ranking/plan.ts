import { invalid } from "../errors/statusError.js";
import type { RerankRequest } from "../generated/types.js";
import { checkCallback, checkInteger } from "../options/arguments.js";
import { ownProperties } from "../options/validate.js";
import { fewAtOnce } from "../policy/decisions.js";
import { mostAtOnce } from "../policy/limiter.js";
import { memberOf } from "../values.js";
import type { ItemRange, RerankItemsOptions, RerankPartial } from "./types.js";

/** The batches of a call, and the partial result that the call continues. */
export interface PlannedItems<T> {
  readonly batches: readonly Batch[];
  /** How many batches may be under way at once: their texts are in memory. */
  readonly most: number;
  readonly documentsOf: (batch: number) => readonly BatchDocument[];
  readonly before: RerankPartial<T> | undefined;
  /** Identifies the call's arguments, so that a later call can continue this one. */
  readonly fingerprint: () => string;
}

// The most characters in all batches under way: the texts and the requests made from them take about 4 bytes for each.
const mostCharacters = 4_194_304;

/** The option `concurrency`, checked: a fixed number, or the maximum of the limit that the search finds. */
export function concurrencyOf(value: unknown = "auto"): number | { readonly max: number } {
  if (value === "auto") return { max: mostAtOnce };
  if (typeof value === "number") return checkInteger(value, "concurrency", 1);
  if (typeof value !== "object" || value === null)
    throw invalid(
      "concurrency",
      'concurrency must be a whole number, "auto", or { max: 200 } for auto up to 200.',
    );
  const { max } = ownProperties<{ max?: unknown }>(value, "concurrency", { max: 1 });
  return { max: checkInteger(max, "concurrency.max", 1) };
}

/** Checks every text, and puts the items that are to be sent into batches. @throws StatusError */
export function planItems<T>(
  items: readonly T[],
  options: RerankItemsOptions<T>,
  body: Omit<RerankRequest, "documents">,
): PlannedItems<T> {
  const { split, continueFrom, batchSize = Number.POSITIVE_INFINITY } = options;
  const textsOf = textsOfItems(items, options.text, split);
  const before = continueFrom === undefined ? undefined : checkPartial(continueFrom, items.length);
  const hash = new TextHash();
  const kept: (readonly string[])[] = [];
  // A call with one request keeps its texts, and hashes them only if the request fails.
  const isHashed = [options.batchSize, options.maxBatchBytes, before].some((each) => each !== undefined);
  // Items that are already ranked are hashed, too: they must be the same as in the earlier call.
  if (before !== undefined) for (let index = 0; index < items.length; index++) hash.add(textsOf(index));
  const ranges = before?.missing ?? [{ offset: 0, count: items.length }];
  const keep = (index: number): readonly string[] => {
    const texts = textsOf(index);
    if (before === undefined && isHashed) hash.add(texts);
    if (before === undefined && kept.length < batchSize) kept[index] = texts;
    return texts;
  };
  const { batches, characters } = batchesOf(ranges, keep, options, body);
  kept.length = batches[0]?.parts === undefined ? (batches[0]?.count ?? 0) : 0;
  // One hash each of the texts, the query and the other fields.
  const fingerprint = (): string => {
    if (!isHashed) for (const texts of kept) hash.add(texts);
    const { query, ...others } = body;
    const given = Object.entries(others).filter(([, value]) => value !== undefined);
    const sorted = JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)));
    return [hash, new TextHash().add([query]), new TextHash().add([sorted])].join(".");
  };
  if (before !== undefined) checkContinues(before, fingerprint());
  return {
    batches,
    most: Math.max(fewAtOnce, Math.floor((mostCharacters * batches.length) / characters)),
    documentsOf(batch) {
      const texts = (index: number) => (batch === 0 ? kept[index] : undefined) ?? textsOf(index);
      return documentsOf(batches[batch] as Batch, texts, split !== undefined);
    },
    before: before as RerankPartial<T> | undefined,
    fingerprint,
  };
}

/**
 * Returns a function for the texts of an item, from the caller's `text` and `split`, whose results it checks.
 * @param list The caller's name of the list of items, for messages.
 */
export function textsOfItems<T>(
  items: readonly T[],
  text: (item: T, index: number) => string,
  split: ((text: string, item: T) => readonly string[]) | undefined,
  list = "items",
): (index: number) => readonly string[] {
  if (typeof text !== "function") throw invalid("text", "text must be a function.");
  checkCallback(split, "split");
  return (index) => {
    const item = items[index] as T;
    const whole = called("text", list, index, () => text(item, index));
    if (typeof whole !== "string") {
      const type = whole === null ? "null" : typeof whole;
      throw invalid("text", `text must give a string for ${list}[${index}], not ${type}.`, { item: index });
    }
    if (split === undefined) return [whole];
    const parts = called("split", list, index, () => split(whole, item));
    if (!Array.isArray(parts) || parts.length === 0 || parts.some((part) => typeof part !== "string"))
      throw invalid("split", `split must give a list of at least 1 string for ${list}[${index}].`, {
        item: index,
      });
    return parts;
  };
}

function called<R>(name: string, list: string, index: number, call: () => R): R {
  try {
    return call();
  } catch (cause) {
    throw invalid(name, `${name} failed for ${list}[${index}].`, { cause, item: index });
  }
}

/** The items of one request: some in a row, or some of the parts of one item. */
export interface Batch extends ItemRange {
  /** The item's first part in this request; undefined if the request has whole items. */
  readonly firstPart: number | undefined;
  /** How many of the item's parts are in this request; undefined if the request has whole items. */
  readonly parts: number | undefined;
}

export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/**
 * Puts all items of the ranges into batches, as many into each as the limits allow. `textsOf` is called once for each item.
 * @throws StatusError for an item that fits no request
 */
export function batchesOf(
  ranges: readonly ItemRange[],
  textsOf: (index: number) => readonly string[],
  limits: Pick<RerankItemsOptions<never>, "batchSize" | "maxBatchBytes">,
  body: Omit<RerankRequest, "documents">,
): { readonly batches: readonly Batch[]; readonly characters: number } {
  const { batchSize = Number.POSITIVE_INFINITY, maxBatchBytes = Number.POSITIVE_INFINITY } = limits;
  const batches: Batch[] = [];
  let characters = 0;
  const isSized = maxBatchBytes < Number.POSITIVE_INFINITY;
  // The bytes of a request without its documents. Each document has a comma, but for the last.
  const baseBytes = isSized ? jsonBytes({ ...body, documents: [] }) - 1 : 0;
  const none = { offset: 0, count: 0, documents: 0, bytes: 0 };
  let open = { ...none };
  const fits = (documents: number, bytes: number): boolean =>
    open.documents + documents <= batchSize && baseBytes + open.bytes + bytes <= maxBatchBytes;
  const end = (batch: Batch): void => {
    batches.push(batch);
    open = { ...none };
  };
  const close = (): void => {
    const { offset, count } = open;
    if (count > 0) end({ offset, count, firstPart: undefined, parts: undefined });
  };
  const sizeOf = (text: string, index: number): number => {
    const bytes = isSized ? jsonBytes(text) + 1 : 0;
    if (baseBytes + bytes <= maxBatchBytes) return bytes;
    const size = `${baseBytes + bytes} bytes: maxBatchBytes is ${maxBatchBytes}`;
    throw invalid(`items[${index}]`, `items[${index}] alone makes a request of ${size}.`, { item: index });
  };
  const add = (offset: number, texts: readonly string[]): void => {
    for (const text of texts) characters += text.length;
    const sizes = texts.map((text) => sizeOf(text, offset));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (!fits(texts.length, bytes)) close();
    if (fits(texts.length, bytes)) {
      if (open.count === 0) open.offset = offset;
      open.count += 1;
      open.documents += texts.length;
      open.bytes += bytes;
      return;
    }
    // An item whose parts need several requests shares these requests with no other item.
    let firstPart = 0;
    for (const [part, size] of sizes.entries()) {
      if (part > firstPart && !fits(1, size)) {
        end({ offset, count: 1, firstPart, parts: part - firstPart });
        firstPart = part;
      }
      open.documents += 1;
      open.bytes += size;
    }
    end({ offset, count: 1, firstPart, parts: sizes.length - firstPart });
  };
  for (const { offset, count } of ranges) {
    for (let index = offset; index < offset + count; index++) add(index, textsOf(index));
    close();
  }
  return { batches, characters };
}

/** A document of a batch: which item it is, or which part of an item. */
export interface BatchDocument {
  readonly text: string;
  readonly item: number;
  /** The number of the part; undefined where items have no parts. */
  readonly part: number | undefined;
}

/** The documents of a batch, made when the batch is sent, so that not all texts are kept. */
export function documentsOf(
  { offset, count, firstPart = 0, parts = Number.POSITIVE_INFINITY }: Batch,
  textsOf: (index: number) => readonly string[],
  isSplit: boolean,
): readonly BatchDocument[] {
  const documents: BatchDocument[] = [];
  for (let item = offset; item < offset + count; item++) {
    const mine = textsOf(item).slice(firstPart, firstPart + parts);
    for (const [at, text] of mine.entries())
      documents.push({ text, item, part: isSplit ? firstPart + at : undefined });
  }
  return documents;
}

/** Checks that a call's arguments are those of the failed call. @throws StatusError that says what differs */
function checkContinues(partial: RerankPartial<unknown>, fingerprint: string): void {
  const before = partial.fingerprint.split(".");
  const now = fingerprint.split(".");
  const what = ["the items", "the query", "the model, the task or another field"];
  const different = what.filter((_, at) => before[at] !== now[at]);
  if (different.length > 0)
    throw invalid("continueFrom", `continueFrom is from another call: ${different.join(", ")} differ.`, {
      hint: "Pass the failed call's arguments, or leave continueFrom out.",
    });
}

/** Checks a partial result, which may come from a file. @throws StatusError */
function checkPartial(value: unknown, count: number): RerankPartial<unknown> {
  const names = ["data", "missing", "fingerprint"];
  const [data, missing, fingerprint] = names.map((name) => memberOf(value, name));
  const isPosition = (at: unknown): boolean =>
    Number.isSafeInteger(at) && Number(at) >= 0 && Number(at) < count;
  const isRanked = (entry: unknown): boolean =>
    isPosition(memberOf(entry, "index")) && typeof memberOf(entry, "score") === "number";
  const isRange = (range: unknown): boolean => {
    const [offset, length] = [memberOf(range, "offset"), memberOf(range, "count")];
    return isPosition(offset) && isPosition((offset as number) + (length as number) - 1);
  };
  const isList = (list: unknown, isEach: typeof isRange) => Array.isArray(list) && list.every(isEach);
  if (isList(data, isRanked) && isList(missing, isRange) && typeof fingerprint === "string")
    return value as RerankPartial<unknown>;
  throw invalid("continueFrom", "continueFrom must be the `partial` of an error for the same items.");
}

/** A running hash (cyrb53) that tells whether texts are the same: 53 bits, and not for secrets. */
class TextHash {
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;

  add(texts: readonly string[]): this {
    for (const text of texts) {
      // The length is hashed, too: ["ab", "c"] is not ["a", "bc"].
      this.#mix(text.length);
      for (let at = 0; at < text.length; at++) this.#mix(text.charCodeAt(at));
    }
    return this;
  }

  toString(): string {
    let [high, low] = [this.#high, this.#low];
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16);
  }

  #mix(unit: number): void {
    this.#high = Math.imul(this.#high ^ unit, 2654435761);
    this.#low = Math.imul(this.#low ^ unit, 1597334677);
  }
}

export function itemsOf(first: number, last: number): string {
  return first === last ? `items[${first}]` : `items[${first}] to items[${last}]`;
}

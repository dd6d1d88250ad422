import { invalid } from "../errors/statusError.js";
import type { ItemRange, TextsOf } from "./types.js";

/** The items of one request: some in a row, or some parts of one. */
export interface Batch extends ItemRange {
  /** Where the item's parts begin, when its request has not all of them. */
  readonly firstPart?: number;
  /** How many of its parts there are then. */
  readonly parts?: number;
}

export interface BatchLimits {
  readonly batchSize: number;
  readonly maxBatchBytes: number | undefined;
  /** The bytes of a request without its documents. */
  readonly baseBytes: number;
}

export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/**
 * Puts items into batches, as many into each as the limits allow. Every text is asked for once.
 * @param note Called with the texts of each item. @throws StatusError for an item that fits no request
 */
export function planBatches(
  ranges: readonly ItemRange[],
  textsOf: TextsOf,
  limits: BatchLimits,
  note: (texts: readonly string[], index: number) => void,
): Batch[] {
  const batches: Batch[] = [];
  for (const { offset, count } of ranges) {
    const open = new OpenBatch(limits, batches);
    for (let index = offset; index < offset + count; index++) {
      const texts = textsOf(index);
      note(texts, index);
      open.add(index, texts);
    }
    open.close();
  }
  return batches;
}

class OpenBatch {
  readonly #limits: BatchLimits;
  readonly #batches: Batch[];
  #offset = 0;
  #count = 0;
  #documents = 0;
  #bytes = 0;

  constructor(limits: BatchLimits, batches: Batch[]) {
    this.#limits = limits;
    this.#batches = batches;
  }

  add(index: number, texts: readonly string[]): void {
    const sizes = this.#sizesOf(texts, index);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (!this.#fits(texts.length, bytes)) this.close();
    if (this.#fits(texts.length, bytes)) this.#put(index, texts.length, bytes);
    else this.#addParts(index, sizes);
  }

  close(): void {
    if (this.#count > 0) this.#batches.push({ offset: this.#offset, count: this.#count });
    this.#count = this.#documents = this.#bytes = 0;
  }

  #put(index: number, documents: number, bytes: number): void {
    if (this.#count === 0) this.#offset = index;
    this.#count += 1;
    this.#documents += documents;
    this.#bytes += bytes;
  }

  // An item whose parts need several requests has these for itself.
  #addParts(offset: number, sizes: readonly number[]): void {
    let firstPart = 0;
    for (const [part, size] of sizes.entries()) {
      if (part > firstPart && !this.#fits(1, size)) {
        this.#batches.push({ offset, count: 1, firstPart, parts: part - firstPart });
        firstPart = part;
        this.#documents = this.#bytes = 0;
      }
      this.#documents += 1;
      this.#bytes += size;
    }
    this.#batches.push({ offset, count: 1, firstPart, parts: sizes.length - firstPart });
    this.#documents = this.#bytes = 0;
  }

  #fits(documents: number, bytes: number): boolean {
    const { batchSize, maxBatchBytes = Number.POSITIVE_INFINITY, baseBytes } = this.#limits;
    // Between two documents is a comma.
    const whole = baseBytes + this.#bytes + bytes - 1;
    return this.#documents + documents <= batchSize && whole <= maxBatchBytes;
  }

  #sizesOf(texts: readonly string[], index: number): readonly number[] {
    const { maxBatchBytes, baseBytes } = this.#limits;
    if (maxBatchBytes === undefined) return texts.map(() => 0);
    return texts.map((text) => {
      const bytes = jsonBytes(text) + 1;
      const whole = baseBytes + bytes - 1;
      if (whole > maxBatchBytes)
        throw invalid(
          `items[${index}] alone makes a request of ${whole} bytes: maxBatchBytes is ${maxBatchBytes}.`,
          { item: index },
        );
      return bytes;
    });
  }
}

/** Which item and part each document of a batch is. */
export interface Places {
  readonly documents: number;
  readonly itemOf: (document: number) => number;
  /** Undefined where items have no parts. */
  readonly partOf: (document: number) => number | undefined;
}

export interface BatchDocuments {
  readonly texts: readonly string[];
  /** Kept longer than the texts. */
  readonly places: Places;
}

/** The texts of a batch, asked for when it is sent, so that not all need be kept. */
export function documentsOf(batch: Batch, textsOf: TextsOf, isSplit: boolean): BatchDocuments {
  const { offset, count, firstPart = 0, parts } = batch;
  const texts: string[] = [];
  const places: { item: number; part: number }[] = [];
  for (let index = offset; index < offset + count; index++) {
    const all = textsOf(index);
    const mine = parts === undefined ? all : all.slice(firstPart, firstPart + parts);
    for (const [part, text] of mine.entries()) {
      texts.push(text);
      if (isSplit) places.push({ item: index, part: firstPart + part });
    }
  }
  return { texts, places: placesOf(isSplit ? places : undefined, offset, texts.length) };
}

function placesOf(
  split: readonly { readonly item: number; readonly part: number }[] | undefined,
  offset: number,
  documents: number,
): Places {
  return split === undefined
    ? { documents, itemOf: (document) => offset + document, partOf: () => undefined }
    : {
        documents,
        itemOf: (document) => split[document]?.item ?? offset,
        partOf: (document) => split[document]?.part,
      };
}

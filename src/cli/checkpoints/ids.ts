// Compact tables for many ids: from an id's hash to numbers, and sets of line numbers.
import { hash } from "node:crypto";
import { UsageError } from "../context.js";

/** An id in a file: text, or a whole number that JSON.parse reads exactly. */
export type Id = string | number;

/** A 64-bit hash of an id: the first eight bytes of the SHA-256 of its JSON. */
export interface IdHash {
  readonly high: number;
  readonly low: number;
}

/** The hash of an id. @param key The id as JSON */
export function digestOf(key: string): IdHash {
  const digest = hash("sha256", key, "hex");
  return { high: Number.parseInt(digest.slice(0, 8), 16), low: Number.parseInt(digest.slice(8, 16), 16) };
}

/**
 * One of the parts into which ids are divided among machines. Which part an id belongs to is documented, and never
 * changes.
 */
export interface Shard {
  /** The shard's number, counted from 0. */
  readonly index: number;
  readonly count: number;
  /** The shard as the command line gives it, such as `0/8` for the first of eight. */
  readonly name: string;
}

/** Parses a shard, such as `1/8`. @throws UsageError if the text is invalid */
export function shardOf(text: string): Shard {
  const [, index, count] = (/^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? []).map(Number);
  if (index === undefined || count === undefined || index >= count)
    throw new UsageError(
      "--shard must be I/N, counted from 0: 0/8 is the first of eight shards, 7/8 the last.",
    );
  return { index, count, name: `${index}/${count}` };
}

/** Whether an id belongs to a shard: the first four bytes of its hash decide. Every id does if `shard` is undefined. */
export function isInShard({ high }: IdHash, shard: Shard | undefined): boolean {
  return shard === undefined || high % shard.count === shard.index;
}

const firstCapacity = 1024;

/**
 * A hash table (open addressing, linear probing) from the hashes of ids to numbers, such as those of rows. An entry
 * takes 16 bytes and some spare room; in a Map with text keys, more than a hundred.
 */
export class IdTable {
  size = 0;
  #high: Uint32Array = new Uint32Array(firstCapacity);
  #low: Uint32Array = new Uint32Array(firstCapacity);
  // Each slot holds a number plus one, so that 0 can mark an empty slot.
  #numbers: Float64Array = new Float64Array(firstCapacity);

  /** Adds a number under the hash of an id. One hash may have several numbers. */
  add(hash: IdHash, number: number): void {
    if (this.size * 3 >= this.#numbers.length * 2) this.#grow();
    this.#put(hash, number + 1);
    this.size += 1;
  }

  *find({ high, low }: IdHash): Generator<number, undefined> {
    const mask = this.#numbers.length - 1;
    for (let at = low & mask; this.#numbers[at] !== 0; at = (at + 1) & mask) {
      if (this.#high[at] === high && this.#low[at] === low) yield (this.#numbers[at] as number) - 1;
    }
    return undefined;
  }

  has(hash: IdHash): boolean {
    return this.first(hash) !== undefined;
  }

  /**
   * A number that was added under a hash. For callers that need no more than one: `find` would make a generator object
   * for each line of a file.
   */
  first({ high, low }: IdHash): number | undefined {
    const mask = this.#numbers.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const stored = this.#numbers[at] as number;
      if (stored === 0) return undefined;
      if (this.#high[at] === high && this.#low[at] === low) return stored - 1;
    }
  }

  #put({ high, low }: IdHash, stored: number): void {
    const mask = this.#numbers.length - 1;
    let at = low & mask;
    while (this.#numbers[at] !== 0) at = (at + 1) & mask;
    this.#high[at] = high;
    this.#low[at] = low;
    this.#numbers[at] = stored;
  }

  #grow(): void {
    const [high, low, numbers] = [this.#high, this.#low, this.#numbers];
    this.#high = new Uint32Array(high.length * 2);
    this.#low = new Uint32Array(high.length * 2);
    this.#numbers = new Float64Array(high.length * 2);
    for (let at = 0; at < numbers.length; at += 1) {
      const stored = numbers[at] as number;
      if (stored !== 0) this.#put({ high: high[at] as number, low: low[at] as number }, stored);
    }
  }
}

/** A set of line numbers, with a bit for each. */
export class LineSet {
  size = 0;
  #bits: Uint8Array = new Uint8Array(firstCapacity);

  /** Adds a line, which must not be in the set yet. */
  add(line: number): void {
    if (line >> 3 >= this.#bits.length) {
      const before = this.#bits;
      this.#bits = new Uint8Array(Math.max(before.length * 2, (line >> 3) + 1));
      this.#bits.set(before);
    }
    this.#bits[line >> 3] = (this.#bits[line >> 3] as number) | (1 << (line & 7));
    this.size += 1;
  }

  has(line: number): boolean {
    return ((this.#bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
  }
}

// Compact tables for many ids: from an id's hash to numbers, and sets of line numbers.
import { hash } from "node:crypto";
import { UsageError } from "./context.js";

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

/** The fingerprint of texts: 22 base64url characters of their SHA-256, at least 128 bits. */
export function fingerprintOf(texts: readonly string[]): string {
  return hash("sha256", `${texts.join("\n")}\n`, "base64url").slice(0, 22);
}

/** The first 48 bits of a fingerprint, which a number holds exactly. */
export function printOf(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/** One of the parts into which ids are divided among machines. Which part an id belongs to never changes. */
export interface Shard {
  /** The shard's number, counted from 0. */
  readonly index: number;
  readonly count: number;
}

/** Parses a shard, such as `1/8`. @throws UsageError if the text is invalid */
export function shardOf(text: string): Shard {
  const [, index, count] = (/^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? []).map(Number);
  if (index === undefined || count === undefined || index >= count)
    throw new UsageError(
      "--shard must be I/N, counted from 0: 0/8 is the first of eight shards, 7/8 the last.",
    );
  return { index, count };
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

  /** Calls `see` with each number under a hash until it returns true. @returns Whether it did */
  some({ high, low }: IdHash, see: (number: number) => boolean): boolean {
    const mask = this.#numbers.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const stored = this.#numbers[at] as number;
      if (stored === 0) return false;
      if (this.#high[at] === high && this.#low[at] === low && see(stored - 1)) return true;
    }
  }

  has(hash: IdHash): boolean {
    return this.some(hash, () => true);
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

const blockBits = 16;

/** A list of numbers in blocks: it takes 8 bytes for each, and grows without a copy of all of them. */
export class Numbers {
  size = 0;
  readonly #blocks: Float64Array[] = [];

  push(number: number): void {
    if (this.size >> blockBits === this.#blocks.length) this.#blocks.push(new Float64Array(1 << blockBits));
    this.set(this.size, number);
    this.size += 1;
  }

  get(at: number): number {
    return this.#blocks[at >> blockBits]?.[at & ((1 << blockBits) - 1)] as number;
  }

  set(at: number, number: number): void {
    (this.#blocks[at >> blockBits] as Float64Array)[at & ((1 << blockBits) - 1)] = number;
  }
}

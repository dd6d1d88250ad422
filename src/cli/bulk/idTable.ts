import { createHash } from "node:crypto";

/** 64 bits that stand for an id. */
export interface IdHash {
  readonly high: number;
  readonly low: number;
}

/** The hash of an id. */
export function hashOf(key: string): IdHash {
  const digest = createHash("sha256").update(key).digest();
  return { high: digest.readUInt32LE(0), low: digest.readUInt32LE(4) };
}

const firstCapacity = 1024;

/** Numbers by the hashes of ids: 16 bytes and some room for each, where a Map of texts takes more than a hundred. */
export class IdTable {
  size = 0;
  #high: Uint32Array = new Uint32Array(firstCapacity);
  #low: Uint32Array = new Uint32Array(firstCapacity);
  // One more than the number; 0 where there is none.
  #numbers: Float64Array = new Float64Array(firstCapacity);

  /** Adds a number, also where the hash has one already. */
  add(hash: IdHash, number: number): void {
    if (this.size * 3 >= this.#numbers.length * 2) this.#grow();
    this.#put(hash, number + 1);
    this.size += 1;
  }

  /** The numbers of a hash. */
  *find({ high, low }: IdHash): Generator<number, undefined> {
    const mask = this.#numbers.length - 1;
    for (let at = low & mask; this.#numbers[at] !== 0; at = (at + 1) & mask) {
      if (this.#high[at] === high && this.#low[at] === low) yield (this.#numbers[at] as number) - 1;
    }
    return undefined;
  }

  /** Whether a hash has a number. */
  has(hash: IdHash): boolean {
    return this.find(hash).next().done !== true;
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
    for (const [at, stored] of numbers.entries()) {
      if (stored !== 0) this.#put({ high: high[at] as number, low: low[at] as number }, stored);
    }
  }
}

/** A running hash of texts, to see whether they are the same again: 53 bits, and no secret. */
export class TextHash {
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;

  add(text: string): this {
    // Its length goes in as well: ["ab", "c"] is not ["a", "bc"].
    this.#mix(text.length);
    for (let at = 0; at < text.length; at++) this.#mix(text.charCodeAt(at));
    return this;
  }

  /** In hexadecimal. */
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

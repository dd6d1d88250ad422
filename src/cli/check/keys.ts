// Only this many different keys are counted: if each row has keys of its own, the counts could fill the memory.
export const mostKeys: number = 1000;
const longestKey = 200;
// A key that a larger share of the rows lacks counts as optional, and is not reported as missing.
const fewShare = 0.1;

/** A key and the number of rows that have it. */
export interface KeyCount {
  readonly name: string;
  readonly rows: number;
}

interface Counted {
  readonly name: string;
  rows: number;
  /** The line of the first row without the key. */
  lackedAt: number;
}

/** Counts how many rows have each key. */
export class KeyCounts {
  /** Whether keys were not counted: those after the first thousand, or of more than 200 characters. */
  hasOthers = false;
  readonly #keys: Map<string, Counted> = new Map();
  // The keys that every row has had so far.
  readonly #everywhere: Set<Counted> = new Set();
  #rows = 0;
  #firstLine = 0;

  /** Counts the keys of a row. @param names The keys, each once @param line The number of the row's line */
  add(names: Iterable<string>, line: number): void {
    if (this.#rows === 0) this.#firstLine = line;
    this.#rows += 1;
    for (const name of names) {
      const key = this.#keys.get(name) ?? this.#begin(name);
      if (key) key.rows += 1;
    }
    for (const key of this.#everywhere) {
      if (key.rows === this.#rows) continue;
      key.lackedAt = line;
      this.#everywhere.delete(key);
    }
  }

  counts(): readonly KeyCount[] {
    return [...this.#keys.values()].map(({ name, rows }) => ({ name, rows }));
  }

  /** The keys that few rows lack. */
  lacked(): readonly (KeyCount & { readonly of: number; readonly lackedAt: number })[] {
    const most = this.#rows * fewShare;
    return [...this.#keys.values()]
      .filter(({ rows }) => rows < this.#rows && this.#rows - rows <= most)
      .map(({ name, rows, lackedAt }) => ({ name, rows, lackedAt, of: this.#rows }));
  }

  #begin(name: string): Counted | undefined {
    if (this.#keys.size === mostKeys || name.length > longestKey) {
      this.hasOthers = true;
      return undefined;
    }
    const key = { name, rows: 0, lackedAt: this.#firstLine };
    this.#keys.set(name, key);
    if (this.#rows === 1) this.#everywhere.add(key);
    return key;
  }
}

// A file may have a name of its own in every row: those seen first are counted.
export const mostKeys: number = 1000;
const longestKey = 200;
// A key that more rows lack is one that rows may lack.
const fewShare = 0.1;

/** A key, and how many rows have it. */
export interface KeyCount {
  readonly name: string;
  readonly rows: number;
}

interface Counted {
  readonly name: string;
  rows: number;
  /** The first row without it. */
  lackedAt: number;
}

/** Counts how many rows have each key. */
export class KeyCounts {
  /** Whether there are keys that were not counted: more than a thousand, or of more than 200 characters. */
  hasOthers = false;
  readonly #keys: Map<string, Counted> = new Map();
  // Those that no row lacked so far.
  readonly #everywhere: Set<Counted> = new Set();
  #rows = 0;
  #firstLine = 0;

  /** @param names Those of one row, each once @param line Where it is */
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

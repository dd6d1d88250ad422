// Checks the lines of a file one by one. The memory that this takes does not grow with the file.
import { type IdHash, IdTable } from "../checkpoints/ids.js";
import { orUndefined } from "../context.js";
import { jsonFault } from "../input/jsonFault.js";
import { encodingFault, isObject, lineText } from "../input/lineContent.js";
import type { Line } from "../input/lines.js";
import { named } from "../terminal.js";
import { KeyCounts, mostKeys } from "./keys.js";

/** The longest line that is checked, in bytes: a longer line could exceed the memory that a check may take. */
export const longestChecked: number = 8 * 1024 * 1024;
/** How many different lines are kept, as hashes, to find duplicates. */
export const mostCompared = 500_000;
// A line with more characters is not parsed, only scanned: its parsed values could take too much memory.
const longestParsed = 64 * 1024;
const shown = 5;

/** A fault of a line; of the whole file if it has no line. */
export interface LineFault {
  readonly line?: number;
  /** The position in the line, counted from 1, in characters. */
  readonly column?: number;
  readonly reason: string;
}

/** The text of a fault, for people. */
export function faultLine({ line, column, reason }: LineFault): string {
  return line === undefined ? reason : `line ${line}, column ${column}: ${reason}`;
}

/** The lines with one kind of fault: their number, and the first five. */
export interface Finding {
  readonly lines: number;
  readonly first: readonly LineFault[];
}

export type WarningKind =
  | "byte order mark"
  | "gzip"
  | "size"
  | "not a number"
  | "no object"
  | "duplicate"
  | "key missing"
  | "too long";

class Found implements Finding {
  lines = 0;
  readonly first: LineFault[] = [];

  /** Whether `first` already has all the lines that are shown; further lines are only counted. */
  get isFull(): boolean {
    return this.first.length === shown;
  }

  /** Counts a further line without its fault. */
  count(): void {
    this.lines += 1;
  }

  add(fault: LineFault, lines = 1): void {
    this.lines += lines;
    if (this.first.length < shown) this.first.push(fault);
  }
}

/** The rows of a file, and the faults found in them. */
export class Rows {
  count = 0;
  readonly keys: KeyCounts = new KeyCounts();
  readonly invalid: Found = new Found();
  readonly #warnings: Map<WarningKind, Found> = new Map();
  readonly #lines: IdTable = new IdTable();
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  add(line: Line): void {
    const { bytes, number, offset } = line;
    if (number === 1 && offset > 0) this.warn("byte order mark", number, "a byte order mark");
    if (bytes === undefined) {
      this.count += 1;
      this.warn("too long", number, "it is longer than 8 MiB, and was not checked");
      return;
    }
    const { value: text } = lineText(line, "JSON lines");
    if (text !== undefined && /^[ \t\r]*$/.test(text)) return;
    this.count += 1;
    if (text !== undefined) this.#row(text, number);
    else {
      const { column, hint } = encodingFault(bytes, "JSON lines", this.#file);
      this.invalid.add({ line: number, column, reason: `it is not UTF-8. ${hint}` });
    }
  }

  warn(
    kind: WarningKind,
    line: number,
    reason: string,
    more: { column?: number; lines?: number } = {},
  ): void {
    this.#found(kind).add({ line, column: more.column ?? 1, reason }, more.lines);
  }

  /** Warns of the whole file. */
  warnOfFile(kind: WarningKind, reason: string): void {
    this.#found(kind).add({ reason });
  }

  /** The warnings about all lines, once the whole file was read. */
  warnings(): readonly (Finding & { readonly kind: WarningKind })[] {
    for (const { name, rows, of, lackedAt } of this.keys.lacked())
      this.warn("key missing", lackedAt, `"${named(name)}" is missing, which ${rows} of ${of} rows have`, {
        lines: of - rows,
      });
    return [...this.#warnings].map(([kind, { lines, first }]) => ({ kind, lines, first }));
  }

  #row(text: string, line: number): void {
    const names = this.#namesIn(text, line);
    if (names === "invalid") return;
    if (names === undefined) this.warn("no object", line, "it is no object");
    else this.keys.add(names, line);
    this.#compare(text, line);
  }

  #found(kind: WarningKind): Found {
    const found = this.#warnings.get(kind) ?? new Found();
    this.#warnings.set(kind, found);
    return found;
  }

  #compare(text: string, line: number): void {
    const hash = hashOf(text);
    const first = this.#lines.first(hash);
    if (first !== undefined) this.warn("duplicate", line, `it is the same as line ${first}`);
    else if (this.#lines.size < mostCompared) this.#lines.add(hash, line);
  }

  // The keys of a line that is a JSON object; undefined for another JSON value, "invalid" for a line that is not JSON.
  #namesIn(text: string, line: number): Iterable<string> | undefined | "invalid" {
    if (text.length <= longestParsed) {
      const value = orUndefined<unknown>(() => JSON.parse(text));
      if (value !== undefined) return isObject(value) ? Object.keys(value) : undefined;
      if (this.invalid.isFull && !/NaN|Infinity/.test(text)) {
        this.invalid.count();
        return "invalid";
      }
    }
    return this.#scanned(text, line);
  }

  // Like #namesIn, for a line that is long or not valid JSON.
  #scanned(text: string, line: number): Iterable<string> | undefined | "invalid" {
    const names = new Set<string>();
    const onName = (name: string): void => {
      // One key more than `mostKeys` is kept: so KeyCounts notices that there are keys which it does not count.
      if (names.size <= mostKeys) names.add(JSON.parse(name));
    };
    const fault = jsonFault(text, { takesNaN: true, onName });
    if (fault !== undefined) {
      this.invalid.add({ line, column: fault.column, reason: fault.reason });
      return "invalid";
    }
    const odd = /NaN|Infinity/.test(text) ? jsonFault(text) : undefined;
    if (odd !== undefined) this.warn("not a number", line, odd.reason, { column: odd.column });
    return /^[ \t]*\{/.test(text) ? names : undefined;
  }
}

/**
 * A 64-bit hash of a text, made of two 32-bit hashes that differ in their multipliers. Lines are many and short: SHA-256
 * takes four times as long for each. Lines that are made to collide only lead to a warning that is wrong.
 */
function hashOf(text: string): IdHash {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(((high << 5) | (high >>> 27)) ^ unit, 0x9e3779b1);
    low = Math.imul(((low << 7) | (low >>> 25)) ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return { high: high >>> 0, low: low >>> 0 };
}

// The rows of an output and its parts, by id and fingerprint: which of them counts, and where it is.
import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { orUndefined, UsageError } from "./context.js";
import { chunkBytes, isObject, type RawLine, splitLines } from "./input.js";

/** An id in a file: text, or a whole number that JSON.parse reads exactly. */
export type Id = string | number;

/**
 * The first 52 bits of the SHA-256 of an id, which a number holds exactly, and the next 52: a million ids may have two
 * equal hashes, but never both. @param id The id; the number 1 and the text "1" differ
 */
export function hashesOf(id: Id): { readonly hash: number; readonly check: number } {
  const hex = hash("sha256", JSON.stringify(id), "hex");
  return { hash: Number.parseInt(hex.slice(0, 13), 16), check: Number.parseInt(hex.slice(13, 26), 16) };
}

/** The fingerprint of texts: 22 base64url characters of their SHA-256, at least 128 bits. */
export function fingerprintOf(texts: readonly string[]): string {
  return hash("sha256", `${texts.join("\n")}\n`, "base64url").slice(0, 22);
}

/** The first 48 bits of a fingerprint, which a number holds exactly. */
export function printOf(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/**
 * A hash table (open addressing, linear probing) from the hashes of ids to numbers, such as those of rows. An entry
 * takes 16 bytes and some spare room; in a Map with text keys, more than a hundred.
 */
export class IdTable {
  size = 0;
  // Pairs of a hash and a number plus one: 0 marks a free slot. A third of them or more is free.
  #slots: Float64Array = new Float64Array(2048);

  /** Adds a number under the hash of an id. One hash may have several numbers. */
  add(hash: number, number: number): void {
    if (this.size * 3 >= this.#slots.length) {
      const old = this.#slots;
      this.#slots = new Float64Array(old.length * 2);
      for (let at = 0; at < old.length; at += 2)
        if (old[at + 1] !== 0) this.#put(old[at] as number, old[at + 1] as number);
    }
    this.#put(hash, number + 1);
    this.size += 1;
  }

  /** Calls `see` with each number under a hash until it returns true. @returns Whether it did */
  some(hash: number, see: (number: number) => boolean): boolean {
    const slots = this.#slots;
    for (let at = this.#first(hash); slots[at + 1] !== 0; at = (at + 2) % slots.length)
      if (slots[at] === hash && see((slots[at + 1] as number) - 1)) return true;
    return false;
  }

  #first(hash: number): number {
    return (hash & (this.#slots.length / 2 - 1)) * 2;
  }

  #put(hash: number, stored: number): void {
    const slots = this.#slots;
    let at = this.#first(hash);
    while (slots[at + 1] !== 0) at = (at + 2) % slots.length;
    slots[at] = hash;
    slots[at + 1] = stored;
  }
}

/**
 * A row: the result of a request or an upload, or its error; `final`, if the request is not sent again, because it is
 * invalid or was paid for; `sending`, if the upload has begun.
 */
export type Row = Readonly<{ id: Id; fingerprint: string }> &
  Readonly<Partial<Record<"response" | "error" | "final" | "sending", unknown>>>;

/** A request whose row is looked for: the hashes of its id, and its fingerprint. */
export type AskedRow = Readonly<{ hash: number; check: number; fingerprint: string }>;

/** How strong the rows of one request are: a stronger one beats a weaker one, and a later one an equal one. */
export const strengths = { passing: 1, final: 2, sending: 3, result: 4 } as const;
export type Strength = (typeof strengths)[keyof typeof strengths];

/** An output, or a checkpoint of uploads. */
export interface RowSource {
  readonly path: string;
  /** The option that names the output, such as `--output`. */
  readonly option: string;
  /** Says how strong a row is; undefined for an object that is no row of this kind. @throws UsageError */
  strengthOf(this: void, row: Row): Strength | undefined;
}

// The columns of a row in the index: its fingerprint's first bits, its position, its strength, and its id's second hash. The
// position is the number of its file and where it begins there, which sorts as rows are read.
const columns = 4;
const [longestFile, mostParts] = [2 ** 38, 30_000];

/** All rows of an output and its parts: for each id and fingerprint, where the row is that beats all others. */
export class Rows {
  size = 0;
  /** Lines that are no row, which are skipped: their requests are sent again. */
  skipped = 0;
  /** Results that this run and another one have paid for, because both ran at one time. */
  twice = 0;
  readonly files: readonly string[];
  // The part of this run, whose rows of lines that are no requests are shown, and where these are.
  readonly #own: number;
  readonly #lineStarts = new Set<number>();
  readonly #source: RowSource;
  readonly #ids = new IdTable();
  #index = new Float64Array(columns * 1024);
  /** The hashes of ids with several fingerprints. */
  readonly #several = new Set<number>();

  /** @param parts The parts, in order @param own The path of this run's part */
  constructor(source: RowSource, parts: readonly { readonly path: string }[] = [], own = "") {
    this.files = [source.path, ...parts.map((part) => part.path)];
    this.#source = source;
    this.#own = this.files.indexOf(own);
    if (parts.length > mostParts)
      throw new UsageError(
        `${source.option} has over ${mostParts} parts, which stay until every request has a result.`,
      );
  }

  /**
   * Reads the rows of the output, as the oldest, and of its parts.
   * @throws UsageError for a line of the output that is no row, unless it is the last and was cut
   */
  async read(): Promise<this> {
    for (const [index, name] of this.files.entries()) {
      let number = 0;
      for await (const lines of linesIn(name)) {
        for (const line of lines) {
          number += 1;
          const text = line.bytes?.toString("latin1") ?? "?";
          if (this.#add(index, line) || /^[ \t\r]*$/.test(text)) continue;
          this.skipped += 1;
          if (index > 0 || (!line.hasEnd && this.size > 0 && isCut(text))) continue;
          throw new UsageError(
            `${this.#source.option}, line ${number}, is not a row of tunerank. If this is the wrong file, name another; if not, remove the line. The file was not changed.`,
          );
        }
      }
    }
    return this;
  }

  // @returns Whether the line is a row, or the first or last line of a part
  #add(file: number, { bytes, start }: RawLine): boolean {
    const row = orUndefined(() => JSON.parse(bytes?.toString() ?? "") as unknown);
    if (!isObject(row)) return false;
    if (row.id === undefined) {
      if (file === this.#own && row.line !== undefined) this.#lineStarts.add(start);
      return file > 0 || (Number.isInteger(row.line) && isObject(row.error));
    }
    const { id, fingerprint } = row as unknown as Row;
    const isKeyed =
      (typeof id === "string" || Number.isSafeInteger(id)) && /^[\w-]{22}$/.test(`${fingerprint}`);
    const strength = isKeyed ? this.#source.strengthOf(row as unknown as Row) : undefined;
    if (strength === undefined) return false;
    const { hash, check } = hashesOf(id);
    const print = printOf(fingerprint);
    const entry = [print, file * longestFile + start, strength, check];
    let others = 0;
    const isKnown = this.#ids.some(hash, (at) => {
      others += 1;
      if (this.#index[at] !== print || this.#index[at + 3] !== check) return false;
      const [before, fileBefore] = [this.#strengthAt(at), Math.floor(this.#positionAt(at) / longestFile)];
      const isTwice = before === strengths.result && strength === before;
      if (isTwice && fileBefore > 0 && (fileBefore === this.#own || file === this.#own)) this.twice += 1;
      // What is being sent is unknown until it is stored, or until the same run says otherwise.
      const isCleared = before === strengths.sending && fileBefore === file;
      const isStronger = before === strengths.sending ? strength > before : strength >= before;
      if (isCleared || isStronger) this.#index.set(entry, at);
      return true;
    });
    if (isKnown) return true;
    if (others > 0) this.#several.add(hash);
    const at = this.size * columns;
    if (at === this.#index.length) {
      const old = this.#index;
      this.#index = new Float64Array(old.length * 2);
      this.#index.set(old);
    }
    this.#index.set(entry, at);
    this.#ids.add(hash, at);
    this.size += 1;
    return true;
  }

  /** How strong the row of a request is; "changed" if only another request with its id has a result. */
  find({ hash, check, fingerprint }: AskedRow): Strength | "changed" | undefined {
    const print = printOf(fingerprint);
    let found: Strength | "changed" | undefined;
    this.#ids.some(hash, (at) => {
      if (this.#index[at + 3] !== check) return false;
      const isSame = this.#index[at] === print;
      if (isSame) found = this.#strengthAt(at);
      else if (this.#strengthAt(at) > strengths.final) found = "changed";
      return isSame;
    });
    return found;
  }

  #positionAt(at: number): number {
    return this.#index[at + 1] as number;
  }

  #strengthAt(at: number): Strength {
    return this.#index[at + 2] as Strength;
  }

  /**
   * Copies the rows to show, as bytes. Of several rows with one id, that of the request as it is asked now is shown if it
   * has a result, else the latest result, else the row of the request as it is asked now. Rows of lines come last.
   */
  async copy(asked: IdTable, to: FileHandle): Promise<void> {
    const shown = new Float64Array(this.size).map((_, row) => this.#positionAt(row * columns)).sort();
    const hidden = this.#hidden(asked);
    let next = 0;
    const copy = async (file: number, isKept: (start: number) => boolean): Promise<void> => {
      for await (const lines of linesIn(this.files[file] ?? "")) {
        const kept = lines.filter(({ start }) => isKept(start));
        if (kept.length > 0)
          await to.writeFile(Buffer.concat(kept.flatMap(({ bytes = empty }) => [bytes, newline])));
      }
    };
    for (const file of this.files.keys())
      await copy(file, (start) => {
        const position = file * longestFile + start;
        if (shown[next] !== position) return false;
        next += 1;
        return !hidden.has(position);
      });
    await copy(this.#own, (start) => this.#lineStarts.has(start));
  }

  // The positions of rows that are not shown, because another row has their id.
  #hidden(asked: IdTable): ReadonlySet<number> {
    const hidden = new Set<number>();
    for (const hash of this.#several) {
      const best = new Map<number, number>();
      const worth = (at: number): number => {
        const isAsked = asked.some(hash, (print) => print === this.#index[at]);
        return (this.#strengthAt(at) > strengths.final ? 2 : 0) + (isAsked ? 1 : 0);
      };
      this.#ids.some(hash, (at) => {
        const check = this.#index[at + 3] as number;
        const other = best.get(check) ?? at;
        const isBetter = (worth(at) - worth(other) || this.#positionAt(at) - this.#positionAt(other)) > 0;
        if (isBetter || other === at) best.set(check, at);
        if (other !== at) hidden.add(this.#positionAt(isBetter ? other : at));
        return false;
      });
    }
    return hidden;
  }
}

const [empty, newline] = [Buffer.alloc(0), Buffer.from("\n")];

// Whether a last line is a row of a former version that was cut, or zero bytes after a loss of power. Whole JSON is not.
function isCut(text: string): boolean {
  const isStart = ['{"id":', '{"line":'].some((start) => start.startsWith(text.slice(0, start.length)));
  return /^\0*$/.test(text) || (isStart && orUndefined(() => JSON.parse(text)) === undefined);
}

/** Opens a file; undefined if there is none. Waits if this process lacks file handles for a moment, as sockets close. */
export async function opened(name: string, flags: string): Promise<FileHandle | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await open(name, flags);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && flags === "r") return undefined;
      if (tries === 50 || (code !== "EMFILE" && code !== "ENFILE")) throw error;
      await wait(100);
    }
  }
}

async function* linesIn(name: string): AsyncGenerator<readonly RawLine[]> {
  // A stream closes its file.
  const file = await opened(name, "r");
  yield* splitLines(file?.createReadStream({ highWaterMark: chunkBytes }) ?? []);
}

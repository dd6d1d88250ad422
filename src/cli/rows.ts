// The rows of an output and its parts, by id and fingerprint: which of them counts, and where it is.
import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { orUndefined, UsageError } from "./context.js";
import { digestOf, type Id, type IdHash, IdTable, Numbers, printOf } from "./ids.js";
import { chunkBytes, isObject, type RawLine, splitLines } from "./input.js";

/** A row: the result of a request or an upload, or its error. */
export interface Row {
  readonly id: Id;
  readonly fingerprint: string;
  readonly response?: unknown;
  readonly error?: unknown;
  /** In a row with an error: whether the request is not sent again, because it is invalid or was paid for. */
  readonly final?: boolean;
  /** The upload has begun. */
  readonly sending?: true;
}

/** A row of an input line that is no request, or whose id an earlier line has. */
export interface LineRow {
  readonly line: number;
  readonly error: unknown;
}

/** A request whose row is looked for. */
export interface AskedRow {
  /** The id as JSON, so that the number 1 and the text "1" differ. */
  readonly key: string;
  readonly hash: IdHash;
  readonly fingerprint: string;
}

/** How strong the rows of one request are: a stronger one beats a weaker one, and a later one an equal one. */
export const strengths = { passing: 1, final: 2, sending: 3, result: 4 } as const;
export type Strength = (typeof strengths)[keyof typeof strengths];

/** Says how strong a row is; undefined for an object that is no row of this kind. @throws UsageError */
export type StrengthOf = (row: Row) => Strength | undefined;

/** An output, or a checkpoint of uploads. */
export interface RowSource {
  readonly path: string;
  /** The option that names the output, such as `--output`. */
  readonly option: string;
  readonly strengthOf: StrengthOf;
}

// Packs where a row is: the number of its file, its strength, and its length, which is below 2 ** 29.
const lengths = 2 ** 29;

/** All rows of an output and its parts: for each id and fingerprint, where the row is that beats all others. */
export class Rows {
  /** Lines that are no row, which are skipped: their requests are sent again. */
  skipped = 0;
  /** Results that two runs have paid for, because both ran at one time. */
  twice = 0;
  readonly files: readonly string[];
  readonly #strengthOf: StrengthOf;
  /** The part of this run, whose rows of lines that are no requests are shown, and where these are. */
  readonly own: number;
  readonly lineStarts: Set<number> = new Set();
  readonly #ids = new IdTable();
  readonly #prints = new Numbers();
  readonly #starts = new Numbers();
  readonly #places = new Numbers();
  /** The hashes of ids with several fingerprints. */
  readonly #several = new Map<string, IdHash>();

  /** @param own The part of this run, whose rows of lines that are no requests are shown */
  constructor(files: readonly string[], strengthOf: StrengthOf, own = "") {
    this.files = files;
    this.#strengthOf = strengthOf;
    this.own = files.indexOf(own);
  }

  /**
   * Reads the rows of an output, as the oldest, and of its parts.
   * @throws UsageError for a line of the output that is no row, unless it is the last and was cut
   */
  static async read(
    { path, option, strengthOf }: RowSource,
    parts: readonly { readonly path: string }[],
    own: string | undefined,
  ): Promise<Rows> {
    const rows = new Rows([path, ...parts.map((part) => part.path)], strengthOf, own);
    for (const [index, name] of rows.files.entries()) {
      let number = 0;
      for await (const lines of linesIn(name)) {
        for (const line of lines) {
          number += 1;
          const text = line.bytes?.toString("latin1") ?? "?";
          if (rows.add(index, line) || /^[ \t\r]*$/.test(text)) continue;
          rows.skipped += 1;
          if (index > 0 || (!line.hasEnd && rows.size > 0 && isCut(text))) continue;
          throw new UsageError(
            `${option}, line ${number}, is not a row of tunerank. If this is the wrong file, name another; if not, remove the line. The file was not changed.`,
          );
        }
      }
    }
    return rows;
  }

  get size(): number {
    return this.#prints.size;
  }

  /** Adds the row of a line. @returns Whether the line is a row, or the first or last line of a part */
  add(file: number, { bytes, start, end }: RawLine): boolean {
    const row = orUndefined(() => JSON.parse(bytes?.toString() ?? "") as unknown);
    if (!isObject(row)) return false;
    if (row.id === undefined) {
      if (file === this.own && row.line !== undefined) this.lineStarts.add(start);
      return file === 0 ? Number.isInteger(row.line) && isObject(row.error) : true;
    }
    const { id, fingerprint } = row as unknown as Row;
    const isKeyed =
      (typeof id === "string" || Number.isSafeInteger(id)) && /^[\w-]{22}$/.test(`${fingerprint}`);
    const strength = isKeyed ? this.#strengthOf(row as unknown as Row) : undefined;
    if (strength === undefined) return false;
    const hash = digestOf(JSON.stringify(id));
    const print = printOf(fingerprint);
    const place = (file * 8 + strength) * lengths + (end - start);
    let others = 0;
    const isKnown = this.#ids.some(hash, (at) => {
      others += 1;
      if (this.#prints.get(at) !== print) return false;
      const before = this.strengthAt(at);
      if (before === strengths.result && strength === before && this.#fileAt(at) > 0) this.twice += 1;
      // What is being sent is unknown until it is stored, or until the same run says otherwise.
      const isCleared = before === strengths.sending && this.#fileAt(at) === file;
      const isStronger = before === strengths.sending ? strength > before : strength >= before;
      if (isCleared || isStronger) this.#set(at, start, place);
      return true;
    });
    if (isKnown) return true;
    if (others > 0) this.#several.set(`${hash.high} ${hash.low}`, hash);
    this.#ids.add(hash, this.size);
    this.#prints.push(print);
    this.#starts.push(start);
    this.#places.push(place);
    return true;
  }

  /** How strong the row of a request is; "changed" if only another request with its id has a result. */
  find({ key, hash, fingerprint }: AskedRow): Strength | "changed" | undefined {
    const print = printOf(fingerprint);
    let found: Strength | "changed" | undefined;
    this.#ids.some(hash, (at) => {
      const isSame = this.#prints.get(at) === print;
      if (isSame) found = this.strengthAt(at);
      else if (this.strengthAt(at) > strengths.final && this.#keyAt(at) === key) found = "changed";
      return isSame;
    });
    return found;
  }

  strengthAt(at: number): Strength {
    return (Math.floor(this.#places.get(at) / lengths) % 8) as Strength;
  }

  /**
   * Decides which rows are shown, asked in the order of the files. Of several rows with one id, that of the request as it
   * is asked now is shown if it has a result, else the latest result, else the row of the request as it is asked now.
   */
  shown(asked: IdTable): (file: number, start: number) => boolean {
    const hidden = new Set<number>();
    for (const hash of this.#several.values()) {
      const best = new Map<string, number>();
      const worth = (at: number): number => {
        const isAsked = asked.some(hash, (print) => print === this.#prints.get(at));
        return (this.strengthAt(at) > strengths.final ? 2 : 0) + (isAsked ? 1 : 0);
      };
      this.#ids.some(hash, (at) => {
        const key = this.#keyAt(at);
        const other = best.get(key);
        const isBetter = other === undefined || (worth(at) - worth(other) || this.#order(at, other)) > 0;
        if (isBetter) best.set(key, at);
        if (other !== undefined) hidden.add(isBetter ? other : at);
        return false;
      });
    }
    const order = new Uint32Array(this.size).map((_, at) => at).sort((a, b) => this.#order(a, b));
    let next = 0;
    return (file, start) => {
      const at = order[next];
      if (at === undefined || this.#fileAt(at) !== file || this.#starts.get(at) !== start) return false;
      next += 1;
      return !hidden.has(at);
    };
  }

  // Below 0 if one row comes before the other: an earlier file, or an earlier place in it.
  #order(a: number, b: number): number {
    return this.#fileAt(a) - this.#fileAt(b) || this.#starts.get(a) - this.#starts.get(b);
  }

  #set(at: number, start: number, place: number): void {
    this.#starts.set(at, start);
    this.#places.set(at, place);
  }

  #fileAt(at: number): number {
    return Math.floor(this.#places.get(at) / lengths / 8);
  }

  /** The row of a request, as it stands in its file. */
  rowOf({ hash, fingerprint }: AskedRow): Row | undefined {
    let row: Row | undefined;
    this.#ids.some(hash, (at) => {
      if (this.#prints.get(at) === printOf(fingerprint)) row = this.#rowAt(at);
      return row !== undefined;
    });
    return row;
  }

  // Two different ids may have the same hash, so the id is read from its row.
  #keyAt(at: number): string {
    return JSON.stringify(this.#rowAt(at).id);
  }

  #rowAt(at: number): Row {
    const bytes = Buffer.alloc(this.#places.get(at) % lengths);
    const file = openSync(this.files[this.#fileAt(at)] as string, "r");
    try {
      readSync(file, bytes, 0, bytes.length, this.#starts.get(at));
    } finally {
      closeSync(file);
    }
    return JSON.parse(bytes.toString());
  }
}

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

/** Copies the rows to show, as bytes; those of lines that are no requests come last. */
export async function copyRows(rows: Rows, asked: IdTable, to: FileHandle): Promise<void> {
  const isShown = rows.shown(asked);
  const copy = async (file: number, isKept: (start: number) => boolean): Promise<void> => {
    for await (const lines of linesIn(rows.files[file] ?? "")) {
      const kept = lines.filter(({ start }) => isKept(start));
      if (kept.length > 0)
        await to.writeFile(Buffer.concat(kept.flatMap(({ bytes = empty }) => [bytes, newline])));
    }
  };
  for (const file of rows.files.keys()) await copy(file, (start) => isShown(file, start));
  await copy(rows.own, (start) => rows.lineStarts.has(start));
}

const [empty, newline] = [Buffer.alloc(0), Buffer.from("\n")];

async function* linesIn(name: string): AsyncGenerator<readonly RawLine[]> {
  // A stream closes its file.
  const file = await opened(name, "r");
  yield* splitLines(file?.createReadStream({ highWaterMark: chunkBytes }) ?? []);
}

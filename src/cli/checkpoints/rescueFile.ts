import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasKey, orUndefined, reasonOf, UsageError } from "../context.js";
import { shellName } from "../input/shellName.js";
import { counted } from "../terminal.js";
import { type Row, type RowSource, readRows } from "./readRows.js";
import { withFile } from "./runFile.js";

const mostNames = 1000;
export const copyBytes: number = 1024 * 1024;
const lineEnd = 10;

/** A new file for the rows that can no longer be added to a file, because another program has changed that file. */
export class RescueFile {
  readonly path: string;
  rows = 0;
  readonly #ofFile: string;
  readonly #file: number;

  private constructor(path: string, ofFile: string, file: number) {
    this.path = path;
    this.#ofFile = ofFile;
    this.#file = file;
  }

  static beside(path: string): RescueFile {
    for (let number = 1; ; number += 1) {
      const name = `${path}.rescued${number === 1 ? "" : `.${number}`}`;
      const open = (): number => openSync(name, "wx");
      const file = number < mostNames ? orUndefined(open, "EEXIST") : open();
      if (file !== undefined) return new RescueFile(name, path, file);
    }
  }

  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#file, bytes, from);
    this.rows += 1;
  }

  /** Adds all rows of an open file that was deleted. */
  addAll(file: number): void {
    const chunk = Buffer.alloc(copyBytes);
    for (let at = 0, read = -1; read !== 0; at += read) {
      read = readSync(file, chunk, 0, chunk.length, at);
      const bytes = chunk.subarray(0, read);
      for (let from = 0; from < read; ) from += writeSync(this.#file, bytes, from);
      for (const byte of bytes) if (byte === lineEnd) this.rows += 1;
    }
  }

  close(): void {
    fdatasyncSync(this.#file);
    closeSync(this.#file);
  }

  /** Says where the rows are, and how to add them to the changed file. */
  get advice(): string {
    const command = joining(this.#ofFile, this.path);
    return this.#saying(
      `The last ${counted(this.rows, "row")} of this run went to`,
      `Add them: \`${command}\`.`,
    );
  }

  /** Says where all rows of a file are that was removed, and how to give them its name. */
  get adviceForAll(): string {
    const command = `mv ${shellName(this.path)} ${shellName(this.#ofFile)}`;
    const first = existsSync(this.#ofFile) ? "Move away what has its name now, then move" : "Move";
    return this.#saying(`Its ${counted(this.rows, "row")} went to`, `${first} them back: \`${command}\`.`);
  }

  // A file name with the API key in it is never shown.
  #saying(rows: string, how: string): string {
    return hasKey(this.path)
      ? `${rows} the newest file beside it whose name has .rescued in it.`
      : `${rows} ${basename(this.path)}, beside it. ${how}`;
  }
}

/** The shell command that adds the rows of a rescue file to the changed file, and removes the rescue file. */
function joining(ofFile: string, path: string): string {
  // The text after the last newline of the changed file; empty if the file ends with a newline.
  const last = orUndefined(() => withFile(ofFile, "r", lastLine)) ?? "";
  const [file, rescued] = [shellName(ofFile), shellName(path)];
  if (last === "") return `cat ${rescued} >> ${file} && rm ${rescued}`;
  // The last line of the file has no newline. If it is JSON, it is a whole row; if not, it is part of a row, and is
  // dropped, because the next row would be appended to it.
  const isWhole = orUndefined(() => JSON.parse(last)) !== undefined;
  const first = isWhole ? `cat ${file}; echo` : `sed '$d' ${file}`;
  return `{ ${first}; cat ${rescued}; } > ${rescued}.joined && mv ${rescued}.joined ${file} && rm ${rescued}`;
}

/** Refuses a file that lacks rows of a rescue file beside it: they were paid for. @throws UsageError */
export async function refuseRescued(source: RowSource): Promise<void> {
  for (const path of rescuedBeside(source.path)) {
    const lacking = new Set<string>();
    const reading = readRows({ ...source, path }, false, (_, row) => lacking.add(keyOf(row)));
    // If no run wrote the file, it only happens to have such a name, and is ignored.
    const isOwn = await reading.then(
      () => true,
      () => false,
    );
    if (!isOwn) continue;
    if (existsSync(source.path)) await readRows(source, true, (_, row) => lacking.delete(keyOf(row)));
    if (lacking.size === 0) continue;
    const { name, how } = hasKey(path)
      ? { name: "the file beside it whose name has .rescued in it", how: "Add them, and remove that file" }
      : { name: `${basename(path)}, beside it`, how: `Add them: \`${joining(source.path, path)}\`` };
    throw new UsageError(
      `${source.option} lacks ${counted(lacking.size, "row")}, which an earlier run left in ${name}. ${how}. Nothing was sent.`,
    );
  }
}

function rescuedBeside(path: string): readonly string[] {
  const isRescued = (name: string): boolean => /^\.rescued(\.\d+)?$/.test(name.slice(basename(path).length));
  const names = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(basename(path)) && isRescued(name),
  );
  return names.sort().map((name) => join(dirname(path), name));
}

// The key to find a row in another file. An upload has a row for its begin (`sending`) and one for its outcome.
function keyOf({ id, fingerprint, line, sending }: Row): string {
  return JSON.stringify(id === undefined ? line : [id, fingerprint, sending]);
}

const mostOfLine = 16 * 1024 * 1024;

// The text after the last newline of a file. Only the last 16 MiB of the file are read, which is more than any row has.
function lastLine(file: number): string {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.min(size, mostOfLine));
  const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
  return bytes.toString("utf8", bytes.lastIndexOf("\n") + 1, read);
}

/** The error if another program changed a file while a run was writing it. */
export class FileChanged extends Error {
  /** What happened and how to keep the rows, without what to do then. */
  readonly facts: string;
  readonly path: string;
  /** The path of the file with the rows that could not be added. */
  readonly rescued: string | undefined;

  constructor(facts: string, path: string, rescued: string | undefined) {
    super(`${facts} Then run the same command again: it sends what has no row.`);
    this.facts = facts;
    this.path = path;
    this.rescued = rescued;
  }
}

/**
 * The error if another program changed a file while a run was writing it.
 * @param option The option that names the file
 * @param growth By how many bytes the file is longer than the run left it; negative if it was cut
 */
export function changedByOthers(
  option: string,
  { path, size, growth }: { readonly path: string; readonly size: number; readonly growth: number },
  rescue: RescueFile | undefined,
): FileChanged {
  const what = growth < 0 ? `was cut to ${size} bytes` : "was written by another program";
  const kept = rescue ? ` ${rescue.advice}` : "";
  const facts = `${option} ${what} while this run was writing it: rows may be missing.${kept}`;
  return new FileChanged(facts, path, rescue?.path);
}

/**
 * How a file was moved while a run was writing it: to another name (`moved`); deleted (`removed`); or not at all, but
 * its .run file was (`in place`).
 */
export type Moved = "moved" | "removed" | "in place";

/** The error if a file, or the .run file beside it, was moved while a run was writing the file. */
export function movedByOthers(
  option: string,
  { path, how }: { readonly path: string; readonly how: Moved },
  rescue: RescueFile | undefined,
): FileChanged {
  const during = "while this run was writing";
  const what = {
    moved: `${option} was moved or replaced ${during} it: its rows are in the file that was moved. Move that back first.`,
    removed: `${option} was removed or replaced ${during} it.`,
    "in place": `The file beside ${option} whose name ends in .run was moved, removed or replaced ${during} ${option}.`,
  }[how];
  const advice = how === "removed" ? rescue?.adviceForAll : rescue?.advice;
  return new FileChanged(advice ? `${what} ${advice}` : what, path, rescue?.path);
}

/** The error if the rows cannot be written to a rescue file either. */
export function cannotRescue(option: string, error: unknown): Error {
  const reason = reasonOf(error as NodeJS.ErrnoException);
  const message = `${option} was changed by another program while this run was writing it, and the file beside it for the rows of this run cannot be written: ${reason}.`;
  return new Error(message, { cause: error });
}

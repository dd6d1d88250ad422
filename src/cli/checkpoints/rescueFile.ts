import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { orUndefined, reasonOf } from "../context.js";

const mostNames = 1000;

/** A new file for the rows that can no longer be added to a file, because another program has changed that file. */
export class RescueFile {
  readonly name: string;
  rows = 0;
  readonly #file: number;

  private constructor(name: string, file: number) {
    this.name = name;
    this.#file = file;
  }

  static beside(path: string): RescueFile {
    for (let number = 1; ; number += 1) {
      const name = `${path}.rescued${number === 1 ? "" : `.${number}`}`;
      const open = (): number => openSync(name, "wx");
      const file = number < mostNames ? orUndefined(open, "EEXIST") : open();
      if (file !== undefined) return new RescueFile(basename(name), file);
    }
  }

  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#file, bytes, from);
    this.rows += 1;
  }

  close(): void {
    fdatasyncSync(this.#file);
    closeSync(this.#file);
  }
}

/**
 * The error if another program changed a file while a run was writing it.
 * @param option The option that names the file
 * @param growth By how many bytes the file is longer than the run left it; negative if it was cut
 */
export function changedByOthers(
  option: string,
  { size, growth }: { readonly size: number; readonly growth: number },
  rescue: RescueFile | undefined,
): Error {
  const what = growth < 0 ? `was cut to ${size} bytes` : "was written by another program";
  const s = rescue?.rows === 1 ? "" : "s";
  const kept = rescue
    ? ` The last ${rescue.rows} row${s} of this run went to ${rescue.name}, beside it: add them to what is to continue.`
    : "";
  return new Error(
    `${option} ${what} while this run was writing it: rows may be missing.${kept} Then run the same command again: it sends what has no row.`,
  );
}

/** The error if the rows cannot be written to a rescue file either. */
export function cannotRescue(option: string, error: unknown): Error {
  const reason = reasonOf(error as NodeJS.ErrnoException);
  const message = `${option} was changed by another program while this run was writing it, and the file beside it for the rows of this run cannot be written: ${reason}.`;
  return new Error(message, { cause: error });
}

import type { Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { chunkBytes } from "./lines.js";

/**
 * The content of a file as it was when first read. A bulk run reads its input a second time, over hours, and has to see
 * the same content. Bytes that are appended meanwhile are not read.
 */
export class FileContent {
  /** How many lines the first reading has seen. The code that splits the bytes into lines counts them here. */
  lines = 0;
  readonly #path: string;
  /** For each block: the CRC of all bytes up to its end, and the number of lines before it. */
  readonly #blocks: { readonly sum: number; readonly linesBefore: number }[] = [];
  #stats: Stats | undefined;
  #end = 0;
  #isWhole = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file for the first time, to its end. */
  async *see(signal: AbortSignal): AsyncGenerator<Buffer> {
    const file = await open(this.#path);
    try {
      this.#stats = await file.stat();
      for (let sum = 0; ; ) {
        signal.throwIfAborted();
        const bytes = await blockAt(file, this.#end, chunkBytes);
        if (bytes.length === 0) {
          this.#isWhole = true;
          return;
        }
        sum = crc32(bytes, sum);
        this.#end += bytes.length;
        this.#blocks.push({ sum, linesBefore: this.lines });
        yield bytes;
      }
    } finally {
      await file.close();
    }
  }

  /** Reads the same bytes a second time. @throws Error before it yields a block that has changed */
  async *again(signal: AbortSignal): AsyncGenerator<Buffer> {
    const file = await open(this.#path);
    try {
      yield* this.#compared(file, signal, () => this.#isInPlace());
      // The file was written to: blocks that were yielded earlier may have changed since, so compare all of them once
      // more.
      if (!(await this.#isUntouched())) for await (const _ of this.#compared(file, signal, () => true));
    } finally {
      await file.close();
    }
  }

  /** Whether the file lost any of the bytes that were read or were to be read. Bytes that were appended are no change. */
  async hasChanged(signal: AbortSignal): Promise<boolean> {
    if (this.#stats === undefined) return false;
    const isCut = this.#isWhole && this.#end < this.#stats.size;
    if (isCut || !(await this.#isInPlace())) return true;
    if (await this.#isUntouched()) return false;
    const file = await open(this.#path);
    try {
      for await (const _ of this.#compared(file, signal, () => true));
      return false;
    } catch (error) {
      if (error instanceof InputChanged) return true;
      throw error;
    } finally {
      await file.close();
    }
  }

  /** Whether the last line, which had no line end in the first reading, has become longer. */
  async hasLongerLine(): Promise<boolean> {
    const file = await open(this.#path);
    try {
      return /^[^\r\n]/.test((await blockAt(file, this.#end, 1)).toString("latin1"));
    } finally {
      await file.close();
    }
  }

  async *#compared(
    file: FileHandle,
    signal: AbortSignal,
    isInPlace: () => boolean | Promise<boolean>,
  ): AsyncGenerator<Buffer> {
    let [at, seen] = [0, 0];
    for (const { sum, linesBefore } of this.#blocks) {
      signal.throwIfAborted();
      const bytes = await blockAt(file, at, Math.min(chunkBytes, this.#end - at));
      seen = crc32(bytes, seen);
      if (seen !== sum || !(await isInPlace())) throw inputChangedAt(linesBefore + 1);
      at += bytes.length;
      yield bytes;
    }
  }

  // Whether the path still leads to the same file, and the file is not shorter than it was.
  async #isInPlace(): Promise<boolean> {
    const now = await stat(this.#path).catch(() => undefined);
    const { dev, ino } = this.#stats ?? {};
    return now !== undefined && now.dev === dev && now.ino === ino && now.size >= this.#end;
  }

  async #isUntouched(): Promise<boolean> {
    const now = await stat(this.#path).catch(() => undefined);
    return now?.size === this.#stats?.size && now?.mtimeMs === this.#stats?.mtimeMs;
  }
}

// Reads up to `most` bytes; fewer if the file ends earlier.
async function blockAt(file: FileHandle, start: number, most: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(most);
  let length = 0;
  for (let bytes = -1; bytes !== 0 && length < most; length += bytes)
    bytes = (await file.read(block, length, most - length, start + length)).bytesRead;
  return block.subarray(0, length);
}

/** The error if another program changed an input while it was read. */
export class InputChanged extends Error {}

/** That error, at a line of the input of a bulk run. */
export function inputChangedAt(line: number): InputChanged {
  return new InputChanged(
    `--bulk: the input changed at line ${line} while this run was reading it. What was ranked stays: run the same command again, once nothing writes the input any more.`,
  );
}

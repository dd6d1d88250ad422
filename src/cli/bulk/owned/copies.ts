// Copies that are on the disk before anything is done that relies on them.
import { closeSync, copyFileSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";

const copyBytes = 1024 * 1024;

/** Copies a file. */
export function copyWhole(from: string, to: string): void {
  copyFileSync(from, to);
  const copy = openSync(to, "r+");
  try {
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

/** Adds what is behind a place to another file. */
export function copyTail(from: string, start: number, to: string): void {
  const [source, target] = [openSync(from, "r"), openSync(to, "a")];
  try {
    const chunk = Buffer.alloc(copyBytes);
    for (let at = start; ; ) {
      const bytes = readSync(source, chunk, 0, chunk.length, at);
      if (bytes === 0) break;
      for (let written = 0; written < bytes; ) written += writeSync(target, chunk, written, bytes - written);
      at += bytes;
    }
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

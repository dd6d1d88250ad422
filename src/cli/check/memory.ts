import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { orUndefined } from "../context.js";

// Garbage of so many lines or bytes fits beside all else in 128 MiB.
const mostLines = 30_000;
const mostBytes = 4 * 1024 * 1024;

/**
 * Has the memory of lines that were looked at collected in time. Left alone, V8 lets garbage grow as long as the machine
 * has room, and on a busy one to several times of what is in use.
 */
export class Collector {
  readonly #collect: (() => void) | undefined;
  #lines = 0;
  #bytes = 0;

  constructor() {
    // Other runtimes have no such flags, and rules of their own.
    this.#collect = orUndefined(() => {
      setFlagsFromString("--semi-space-growth-factor=1");
      setFlagsFromString("--expose-gc");
      return runInNewContext("gc") as () => void;
    });
  }

  /** Counts what was looked at. */
  seen(lines: number, bytes: number): void {
    this.#lines += lines;
    this.#bytes += bytes;
    if (this.#lines < mostLines && this.#bytes < mostBytes) return;
    this.#lines = 0;
    this.#bytes = 0;
    this.#collect?.();
  }
}

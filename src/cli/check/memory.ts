import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { orUndefined } from "../context.js";

// After this many lines or bytes, garbage is collected, so that all memory together stays below 128 MiB.
const mostLines = 30_000;
const mostBytes = 4 * 1024 * 1024;

/**
 * Frees the memory of checked lines early. By itself, V8 lets garbage grow while the machine has room: on a busy
 * machine, garbage grows to several times the memory in use.
 */
export class Collector {
  readonly #collect: (() => void) | undefined;
  #lines = 0;
  #bytes = 0;

  constructor() {
    // Runtimes without V8 do not have these two flags, and collect garbage by their own rules.
    this.#collect = orUndefined(() => {
      setFlagsFromString("--semi-space-growth-factor=1");
      setFlagsFromString("--expose-gc");
      return runInNewContext("gc") as () => void;
    });
  }

  /** Counts checked lines and bytes. */
  seen(lines: number, bytes: number): void {
    this.#lines += lines;
    this.#bytes += bytes;
    if (this.#lines < mostLines && this.#bytes < mostBytes) return;
    this.#lines = 0;
    this.#bytes = 0;
    this.#collect?.();
  }
}

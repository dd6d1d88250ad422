import { isStatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { rankingError } from "../ranking/check.js";
import { activityFailure } from "./temporalFailure.js";
import type { ChunkResult } from "./temporalTypes.js";

// A write is retried, because a store may fail for a moment. After the last try the activity's attempt fails, and
// the next attempt ranks again the rows that were not written.
const mostTries = 8;
const firstWaitMs = 250;
const longestWaitMs = 8_000;
// How often a failed write is retried after the call was cancelled or timed out: only about a second may be left then.
const lastRetries = 3;

/** The function and the limits that parts are written with. */
interface PartTools {
  readonly partRows: number;
  readonly signal: AbortSignalLike;
  /** Writes a part. @throws the error of the caller's store */
  write(part: string, rows: readonly ChunkResult[]): Promise<unknown>;
  /** Called with the rows of each part after it is written. */
  written(rows: readonly ChunkResult[]): void;
}

/** Collects result rows into parts and writes each part. A failed write is retried, as its results were paid for. */
export class PartWriter {
  readonly #tools: PartTools;
  #rows: ChunkResult[] = [];
  #hasFailed = false;

  constructor(tools: PartTools) {
    this.#tools = tools;
  }

  async add(row: ChunkResult): Promise<void> {
    this.#rows.push(row);
    if (this.#rows.length >= this.#tools.partRows) await this.flush();
  }

  /**
   * Writes the collected rows.
   * @throws the last error of the store, after all tries; from then on nothing is written
   */
  async flush(): Promise<void> {
    if (this.#rows.length === 0 || this.#hasFailed) return;
    const rows = this.#rows;
    this.#rows = [];
    try {
      await this.#write(rows);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  async #write(given: readonly ChunkResult[]): Promise<void> {
    const { signal, write, written } = this.#tools;
    // The part's name is unique, so that no part overwrites another, even one of another worker. All tries to write a
    // part use one name.
    const part = globalThis.crypto.randomUUID();
    let rows = given;
    let lastTries = 0;
    for (let tries = 1; ; tries++) {
      try {
        await write(part, rows);
        return written(rows);
      } catch (error) {
        const hasEnded = signal.aborted;
        // After the end, a StatusError means that the write ran out of time: nothing more may be written.
        const isLast = hasEnded ? isStatusError(error) || lastTries++ === lastRetries : tries === mostTries;
        if (isLast) throw error;
        rows = rows.map(writable);
        const waitMs = hasEnded ? firstWaitMs : Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1));
        await pause(waitMs, signal);
      }
    }
  }
}

// Returns the row, or an error row if it cannot be written as JSON: such a row would fail every write of its part.
function writable(row: ChunkResult): ChunkResult {
  try {
    JSON.stringify(row);
    return row;
  } catch (cause) {
    const error = rankingError(
      "The response cannot be written as JSON: it is nested too deeply, or too long.",
      {
        cause,
      },
    );
    return { id: row.id, error: activityFailure(error) };
  }
}

function pause(ms: number, signal: AbortSignalLike): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

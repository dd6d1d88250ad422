import { rankingError } from "../ranking/check.js";
import { activityFailure } from "./temporalFailure.js";
import type { ChunkResult } from "./temporalTypes.js";

// A store may fail for a moment. After three tries the activity's attempt fails, also after a cancellation: Temporal's
// next attempt ranks again the rows that were not written.
const mostTries = 3;
const firstWaitMs = 250;

/** The function and the limits that parts are written with. */
interface PartTools {
  readonly partRows: number;
  /** Writes a part. @throws the error of the caller's store */
  write(part: string, rows: readonly ChunkResult[]): unknown;
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
    const { write, written } = this.#tools;
    // The part's name is unique, so that no part overwrites another, even one of another worker. All tries to write a
    // part use one name.
    const part = globalThis.crypto.randomUUID();
    let rows = given;
    for (let tries = 1; ; tries++) {
      try {
        await write(part, rows);
        return written(rows);
      } catch (error) {
        if (tries === mostTries) throw error;
        rows = rows.map(writable);
        await new Promise((resolve) => setTimeout(resolve, firstWaitMs * tries));
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

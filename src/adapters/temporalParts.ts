import type { AbortSignalLike } from "../options/types.js";
import { rankingError } from "../ranking/check.js";
import { activityFailure } from "./temporalFailure.js";
import type { ChunkResult } from "./temporalTypes.js";

// A store may be away for a moment. One that stays away fails the attempt of the activity: the next attempt ranks again
// what is not written.
const mostTries = 8;
const firstWaitMs = 250;
const longestWaitMs = 8_000;

/** What parts are written with. */
interface PartTools {
  readonly partRows: number;
  readonly signal: AbortSignalLike;
  /** Writes a part. @throws what its store throws */
  write(part: string, rows: readonly ChunkResult[]): Promise<unknown>;
  /** Called with the rows of a part that is written. */
  written(rows: readonly ChunkResult[]): void;
}

/** Gathers rows into parts, each of which is kept until it is written: its rows were paid for. */
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

  /** Writes what is there. @throws what the store threw last, after several tries; nothing is written from then on */
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
    // No two parts have one name, so that none is written over, whoever else works on the chunk; the same part keeps it.
    const part = globalThis.crypto.randomUUID();
    let rows = given;
    for (let tries = 1; ; tries++) {
      try {
        await write(part, rows);
        return written(rows);
      } catch (error) {
        if (tries === mostTries || signal.aborted) throw error;
        rows = rows.map(writable);
        await pause(Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)), signal);
      }
    }
  }
}

// Stores write JSON: what cannot be JSON would fail its whole part, again and again.
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

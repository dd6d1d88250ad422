// Finds requests that ask the same under different ids. With `--dedupe` only the first of them is sent.
import { hash } from "node:crypto";
import { IdTable } from "../checkpoints/ids.js";
import type { BulkRequest } from "./bulkRequest.js";

/** What the row of a request has besides its result. */
export type RequestRow = Pick<BulkRequest, "id" | "fingerprint" | "documentIds" | "line">;

// In place of the offset of a row: the request is in flight, or it has no result that others could have.
const inFlight = -1;
const noResult = -2;
const mostWaiting = 1000;

/**
 * The requests of a run, by what they ask. Of each different one, 112 bits of the SHA-256 of its body and the offset of
 * its row are kept: about 60 bytes, however long it is.
 */
export class EqualRequests {
  readonly #table: IdTable = new IdTable();
  readonly #checks: number[] = [];
  readonly #rows: number[] = [];
  // The requests in flight with their numbers, and the rows that wait for each.
  readonly #sent: Map<RequestRow, number> = new Map();
  readonly #repeats: Set<RequestRow> = new Set();
  readonly #waiting: Map<number, RequestRow[]> = new Map();
  #held = 0;
  #onSettled: (() => void) | undefined;

  /** Notes a request that has a row. */
  add(request: BulkRequest, offset: number): void {
    this.#rows[this.#numberOf(request)] = offset;
  }

  /** Notes a request that is sent. */
  send(request: BulkRequest): void {
    const before = this.#rows.length;
    const number = this.#numberOf(request);
    if (number < before) this.#repeats.add(request);
    this.#rows[number] = inFlight;
    this.#sent.set(request, number);
  }

  /** Whether an earlier request asked the same as one in flight. */
  isRepeat(request: RequestRow): boolean {
    return this.#repeats.has(request);
  }

  /** Whether so many requests wait for equal ones that no more are to be read now. */
  get isFull(): boolean {
    return this.#held >= mostWaiting;
  }

  /** Resolves when a request in flight has its result. */
  async oneSettled(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve;
    });
  }

  /**
   * What to do with a request of which only one is to be sent: `"send"` it, or nothing, since it `"waits"` for the row of
   * an equal one in flight; or the offset of the row of an equal one.
   */
  place(request: BulkRequest): "send" | "waits" | number {
    const number = this.#numberOf(request);
    const row = this.#rows[number] as number;
    if (row >= 0) return row;
    if (row === noResult) return "send";
    const { id, fingerprint, documentIds, line } = request;
    const waiting = this.#waiting.get(number) ?? [];
    waiting.push({ id, fingerprint, documentIds, line });
    this.#waiting.set(number, waiting);
    this.#held += 1;
    return "waits";
  }

  /**
   * Notes the result of a request. Invalid ones were not sent.
   * @param offset Where its row begins; undefined if it has no ranking
   * @returns The requests that waited for it
   */
  settled(request: RequestRow, offset: number | undefined): readonly RequestRow[] {
    const number = this.#sent.get(request);
    if (number === undefined) return [];
    const waiting = this.#waiting.get(number) ?? [];
    this.#sent.delete(request);
    this.#repeats.delete(request);
    this.#waiting.delete(number);
    this.#rows[number] = offset ?? noResult;
    this.#held -= waiting.length;
    this.#onSettled?.();
    return waiting;
  }

  // A request that is seen for the first time gets a new number.
  #numberOf({ asked }: BulkRequest): number {
    const digest = hash("sha256", asked, "hex");
    const [high, low, check] = [digest.slice(0, 8), digest.slice(8, 16), digest.slice(16, 28)].map((part) =>
      Number.parseInt(part, 16),
    ) as [number, number, number];
    for (const number of this.#table.find({ high, low })) if (this.#checks[number] === check) return number;
    const number = this.#checks.push(check) - 1;
    this.#table.add({ high, low }, number);
    this.#rows.push(noResult);
    return number;
  }
}

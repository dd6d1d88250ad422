// Finds requests that ask the same under different ids. With `--dedupe` only the first of them is sent.
import { hash } from "node:crypto";
import type { StatusError } from "../../index.js";
import { IdTable } from "../checkpoints/ids.js";
import type { BulkRequest } from "./bulkRequest.js";

/** The fields of a request's row, except its result. */
export type RequestRow = Pick<BulkRequest, "id" | "fingerprint" | "documentIds" | "line" | "resent">;

// Stored in place of a row's offset, while a request is in flight or if it has no ranking that equal requests can copy.
const inFlight = -1;
const noResult = -2;
const mostWaiting = 1000;
// At most this many errors are kept. If a further request fails, the requests that ask the same are sent.
const mostErrors = 10_000;

/**
 * The requests of a run, by what they ask. For each different body, 112 bits of its SHA-256 and the offset of its row
 * are kept: about 60 bytes, however long the body is.
 */
export class EqualRequests {
  readonly #table: IdTable = new IdTable();
  readonly #checks: number[] = [];
  readonly #rows: number[] = [];
  // The requests in flight, each with its number. Requests that ask the same have the same number.
  readonly #sent: Map<RequestRow, number> = new Map();
  // The requests in flight that ask the same as an earlier request.
  readonly #repeats: Set<RequestRow> = new Set();
  // The requests that wait for the result of an equal request in flight, by the number that all of them share.
  readonly #waiting: Map<number, RequestRow[]> = new Map();
  // The errors of requests, by number. Later equal requests get the same error and are not sent: they would be paid for,
  // or rejected, again.
  readonly #errors: Map<number, StatusError> = new Map();
  #held = 0;
  #onSettled: (() => void) | undefined;

  /** Records the offset of a request's row. */
  add(request: BulkRequest, offset: number): void {
    this.#rows[this.#numberOf(request)] = offset;
  }

  /** Records that a request is sent, whatever others ask. */
  send(request: BulkRequest): void {
    const before = this.#rows.length;
    const number = this.#numberOf(request);
    if (number < before) this.#repeats.add(request);
    this.#begin(request, number);
  }

  #begin(request: BulkRequest, number: number): void {
    this.#rows[number] = inFlight;
    this.#sent.set(request, number);
  }

  /** Whether a request in flight asks the same as an earlier request. */
  isRepeat(request: RequestRow): boolean {
    return this.#repeats.has(request);
  }

  /** Whether 1000 requests wait for equal ones: then no more requests are read. */
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
   * What to do with a request, if only one of all equal requests is sent: `"send"` it, which is recorded; or nothing,
   * since it `"waits"` for an equal request in flight; or copy the row of an equal request, whose offset is returned, or
   * its error.
   */
  place(request: BulkRequest): "send" | "waits" | number | StatusError {
    const number = this.#numberOf(request);
    const error = this.#errors.get(number);
    if (error !== undefined) return error;
    const row = this.#rows[number] as number;
    if (row >= 0) return row;
    if (row === noResult) {
      this.#begin(request, number);
      return "send";
    }
    const { id, fingerprint, documentIds, line, resent } = request;
    const waiting = this.#waiting.get(number) ?? [];
    waiting.push({ id, fingerprint, documentIds, line, resent });
    this.#waiting.set(number, waiting);
    this.#held += 1;
    return "waits";
  }

  /**
   * Records the result of a request. Ignores an invalid request, which was not sent.
   * @param shared Where the request's row begins; without a ranking the error that equal requests share, or undefined
   * @returns The equal requests that waited for the result
   */
  settled(request: RequestRow, shared: number | StatusError | undefined): readonly RequestRow[] {
    const number = this.#sent.get(request);
    if (number === undefined) return [];
    const waiting = this.#waiting.get(number) ?? [];
    this.#sent.delete(request);
    this.#repeats.delete(request);
    this.#waiting.delete(number);
    this.#rows[number] = typeof shared === "number" ? shared : noResult;
    if (typeof shared === "object" && this.#errors.size < mostErrors) this.#errors.set(number, shared);
    this.#held -= waiting.length;
    this.#onSettled?.();
    return waiting;
  }

  // Numbers requests by what they ask: equal requests have the same number.
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

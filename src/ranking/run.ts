import type { Attempt } from "../errors/codes.js";
import { detailsOf, isStatusError, refusal, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { Limiter } from "../policy/limiter.js";
import { nothingSent, type Ran, worse } from "../policy/retry.js";
import { Lane, machineClock, Schedule } from "../policy/schedule.js";
import { itemsOf, type Places } from "./plan.js";
import type { ItemBatch } from "./types.js";

/** The failure that ended the batches of a call. */
export interface BatchFailure {
  readonly batch: number;
  readonly error: unknown;
}

/** How the batches of a call run. */
export interface BatchRun {
  readonly batches: number;
  /** How many batches may run at once; a batch that waits for a retry counts as three. */
  readonly concurrency: number;
  /** Whether a batch is retried until its deadline. */
  readonly untilDeadline: boolean;
  readonly signal: AbortSignalLike | undefined;
  run(batch: number, signal: AbortSignalLike, lane: Lane): Promise<void>;
}

/** Runs batches by number until one fails. Resolves to its failure, if any, once all running batches have ended. */
export async function runBatches(given: BatchRun): Promise<BatchFailure | undefined> {
  const { signal } = given;
  const controller = new AbortController();
  if (signal?.aborted) controller.abort(signal.reason);
  const running = new Batches(given, controller);
  const onAbort = (): void => {
    controller.abort(signal?.reason);
    running.finish();
  };
  signal?.addEventListener("abort", onAbort);
  try {
    return await running.ended;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Runs the batches of one call, as many at once as its schedule allows. */
class Batches {
  readonly ended: Promise<BatchFailure | undefined>;
  readonly #given: BatchRun;
  readonly #controller: AbortController;
  readonly #schedule: Schedule;
  #resolve!: (failure: BatchFailure | undefined) => void;
  #next = 0;
  #underWay = 0;
  #failure: BatchFailure | undefined;

  constructor(given: BatchRun, controller: AbortController) {
    this.#given = given;
    this.#controller = controller;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { concurrency, untilDeadline } = given;
    const limiter = new Limiter(concurrency);
    this.#schedule = new Schedule({ limiter, clock: machineClock, untilDeadline }, this);
    this.#schedule.advance();
    this.finish();
  }

  begin(now: number): void {
    const schedule = this.#schedule;
    const { batches, concurrency } = this.#given;
    // A batch that waits for a retry counts as three: batches that begin in its place would be rejected at once, too.
    while (
      this.#next < batches &&
      this.#underWay + 2 * schedule.waiting.size < concurrency &&
      schedule.isOpen(now)
    ) {
      void this.#run(this.#next++, now);
    }
  }

  async #run(batch: number, now: number): Promise<void> {
    const { run, batches } = this.#given;
    const lane = new Lane(this.#schedule);
    this.#underWay += 1;
    lane.begin(now);
    try {
      await run(batch, this.#controller.signal, lane);
      lane.responded();
    } catch (error) {
      lane.failed();
      this.#failure ??= { batch, error };
      // No further batch begins.
      this.#next = batches;
      this.#controller.abort();
    }
    this.#underWay -= 1;
    this.#schedule.advance();
    this.finish();
  }

  /** Ends the run if no batch is running, and none is left to begin or the call was aborted. */
  finish(): void {
    const isOver = this.#next >= this.#given.batches || this.#controller.signal.aborted;
    if (this.#underWay > 0 || !isOver) return;
    this.#schedule.close();
    this.#resolve(this.#failure);
  }
}

/** The attempts of a call's batches, in the order in which the batches ended. */
export class RequestsMade {
  readonly attempts: Attempt[] = [];
  /** Whether any of the attempts ran the operation. */
  ran: Ran = nothingSent;

  add(attempts: readonly Attempt[], ran: Ran): void {
    this.attempts.push(...attempts);
    this.ran = worse(this.ran, ran);
  }

  /** Adds the attempts of a batch that failed. */
  addFailed(error: unknown): void {
    if (isStatusError(error)) this.add(error.attempts, error);
  }
}

/**
 * The error of a call with a failed batch: it has all attempts of the call, and names the caller's items.
 * @param batch The batch if the call has several, else undefined.
 * @param places The items of the batch's documents; undefined if its texts could not be computed.
 */
export function errorOfBatches(
  error: unknown,
  batch: ItemBatch | undefined,
  places: Places | undefined,
  made: RequestsMade,
): StatusError {
  const { executed, executedBecause } = made.ran;
  const failed = isStatusError(error)
    ? error
    : refusal("INTERNAL", "The client failed; please report this.", {
        cause: error,
        notRetried: "not-transient",
      });
  const text = places ? withItems(failed.text, places) : failed.text;
  return new StatusError(batch && places ? withBatch(text, batch) : text, {
    ...detailsOf(failed),
    operation: "rerankDocuments",
    executed,
    executedBecause,
    attempts: made.attempts,
  });
}

/** The position of a document in a message: documents[3], documents.3 or documents/3. */
const place = /\bdocuments(?:\[(\d{1,9})\]|[./](\d{1,9})\b)/g;

/** The positions of documents that a message names. */
export function placesIn(message: string): number[] {
  return [...message.matchAll(place)].map(([, inBrackets, afterDot]) => Number(inBrackets ?? afterDot));
}

// Rewrites document positions in the service's message as the caller's items.
function withItems(message: string, { list = "items", documents, itemOf, partOf }: Places): string {
  return message.replace(place, (found, inBrackets, afterDot) => {
    const document = Number(inBrackets ?? afterDot);
    if (document >= documents) return found;
    const part = partOf(document);
    return `${list}[${itemOf(document)}]${part === undefined ? "" : ` (part ${part})`}`;
  });
}

// Adds the batch if the message names no item, and says how documents are counted if the message names documents.
function withBatch(message: string, { batch, offset, count }: ItemBatch): string {
  const counted = /\bdocuments[[./]\d/.test(message);
  if (message.includes("items[") && !counted) return message;
  const within = counted ? "; documents are counted within it" : "";
  return `${message.replace(/[.]$/, "")} (batch ${batch}: ${itemsOf(offset, offset + count - 1)}${within}).`;
}

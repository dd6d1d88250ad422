import type { Attempt } from "../errors/codes.js";
import { detailsOf, isStatusError, refusal, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { Limiter } from "../policy/limiter.js";
import { nothingSent, type Ran, worse } from "../policy/retry.js";
import { Lane, machineClock, Schedule } from "../policy/schedule.js";
import type { Places } from "./plan.js";
import { itemsOf } from "./plan.js";
import type { ItemBatch } from "./types.js";

/** Why batches were ended. */
export interface BatchFailure {
  readonly batch: number;
  readonly error: unknown;
}

/** How the batches of a call run. */
export interface BatchRun {
  readonly batches: number;
  /** The most batches at once; one that waits for another attempt takes three places. */
  readonly concurrency: number;
  /** Whether only its time ends what a batch tries. */
  readonly untilDeadline: boolean;
  readonly signal: AbortSignalLike | undefined;
  run(batch: number, signal: AbortSignalLike, lane: Lane): Promise<void>;
}

/** Runs batches by number. One that fails ends all: it is what this resolves to, once all have ended. */
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

/** The batches of one call, as many at once as its schedule lets begin. */
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
    const parts = { limiter: new Limiter(concurrency), clock: machineClock, untilDeadline };
    this.#schedule = new Schedule(parts, (now) => this.#begin(now));
    this.#schedule.advance();
    this.finish();
  }

  #begin(now: number): void {
    const { batches, concurrency } = this.#given;
    const schedule = this.#schedule;
    // Each batch that waits for another attempt leaves two more places empty: what begins at once is refused at once.
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
      lane.answered();
    } catch (error) {
      lane.failed();
      this.#failure ??= { batch, error };
      // No other begins.
      this.#next = batches;
      this.#controller.abort();
    }
    this.#underWay -= 1;
    this.#schedule.advance();
    this.finish();
  }

  /** Ends it where nothing is under way: none is left, or what is left waits and is not wanted any more. */
  finish(): void {
    const isOver = this.#next >= this.#given.batches || this.#controller.signal.aborted;
    if (this.#underWay > 0 || !isOver) return;
    this.#schedule.close();
    this.#resolve(this.#failure);
  }
}

/** The requests of one call that is made of batches, batch by batch as they ended. */
export class RequestsMade {
  readonly attempts: Attempt[] = [];
  /** Whether any of them ran. */
  ran: Ran = nothingSent;

  add(attempts: readonly Attempt[], ran: Ran): void {
    this.attempts.push(...attempts);
    this.ran = worse(this.ran, ran);
  }

  /** Adds what a batch made before it failed. */
  addFailed(error: unknown): void {
    if (isStatusError(error)) this.add(error.attempts, error);
  }
}

/** The batch that failed, in terms of the caller's items. */
export interface FailedBatch extends ItemBatch {
  /** Undefined when its texts could not be had. */
  readonly places: Places | undefined;
  /** Whether there are others. */
  readonly isOneOfMany: boolean;
}

/** The error of a whole call, one of whose batches failed: with every request made, in terms of the caller's items. */
export function errorOfBatches(error: unknown, batch: FailedBatch, made: RequestsMade): StatusError {
  const { executed, executedBecause } = made.ran;
  const failed = isStatusError(error)
    ? error
    : refusal("INTERNAL", "The client failed; please report this.", {
        cause: error,
        notRetried: "not-transient",
      });
  return new StatusError(withBatch(withItems(failed.text, batch.places), batch), {
    ...detailsOf(failed),
    operation: "rerankDocuments",
    executed,
    executedBecause,
    attempts: made.attempts,
  });
}

const place = /\bdocuments(?:\[(\d{1,9})\]|[./](\d{1,9})\b)/g;

// A service knows the documents of one request only, and writes their places in several ways.
function withItems(message: string, places: Places | undefined): string {
  if (places === undefined) return message;
  const { documents, itemOf, partOf } = places;
  return message.replace(place, (found, inBrackets, afterDot) => {
    const document = Number(inBrackets ?? afterDot);
    if (document >= documents) return found;
    const part = partOf(document);
    return `items[${itemOf(document)}]${part === undefined ? "" : ` (part ${part})`}`;
  });
}

// Which batch it is, where the message names no item, and that documents are counted within it, where it names those.
function withBatch(message: string, { batch, offset, count, isOneOfMany, places }: FailedBatch): string {
  const counted = /\bdocuments[[./]\d/.test(message);
  if (!isOneOfMany || places === undefined || (message.includes("items[") && !counted)) return message;
  const within = counted ? "; documents are counted within it" : "";
  return `${message.replace(/[.]$/, "")} (batch ${batch}: ${itemsOf(offset, offset + count - 1)}${within}).`;
}

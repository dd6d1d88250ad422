import { after, now } from "../transport/time.js";
import type { Limiter, Sharer } from "./limiter.js";

/** Time, as a schedule needs it. */
export interface Clock {
  now(): number;
  /** Calls `run` after so many milliseconds; the function that it returns prevents that. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's time: a timer of any length, that fires never too early. */
export const machineClock: Clock = { now, after };

/** A declared rate. */
interface Pacing {
  /** Nothing is sent before. */
  readonly opensAt: number;
  /** An attempt begins. @returns the tokens that it is taken to need */
  began(now: number, bytes: number): number;
}

/** What the attempts of a run have in common. */
interface ScheduleParts {
  readonly limiter: Limiter;
  readonly pace: Pacing | undefined;
  readonly clock: Clock;
}

/** A call that waits for another attempt. */
export interface Waiting {
  /** When it may begin. */
  readonly readyAt: number;
  /** When its time is over. */
  readonly endsAt: number;
  begin(now: number): void;
}

/**
 * Lets attempts begin: one limit, one rate and one hold for all calls of a run. Those that were tried before begin first,
 * in the order in which they came; then `opened` is asked for others.
 */
export class Schedule implements Sharer {
  declare readonly limiter: Limiter;
  declare readonly pace: Pacing | undefined;
  declare readonly clock: Clock;
  /** How many of its attempts are under way. */
  inFlight = 0;
  /** The calls that wait for another attempt. */
  readonly waiting: Set<Waiting> = new Set();
  readonly #opened: (now: number) => void;
  #isAdvancing = false;
  #isClosed: boolean;
  #unset: (() => void) | undefined;

  /**
   * @param opened Called when others may begin: it begins as many as it has while the schedule is open. Once that is
   * closed, it is called with each call that will not get its turn
   */
  constructor({ limiter, pace, clock }: ScheduleParts, opened: (now: number) => void) {
    this.limiter = limiter;
    this.pace = pace;
    this.clock = clock;
    this.#opened = opened;
    // Assigned twice, undefined first: V8 takes a field that is assigned once for a constant, and compiles again when it changes.
    this.#isClosed = false;
  }

  /** Whether an attempt may begin now. */
  isOpen(now: number, endsAt?: number): boolean {
    return !this.#isClosed && this.limiter.isOpen(now, endsAt) && !(this.pace && this.pace.opensAt > now);
  }

  /** Has a call begin when its turn comes. */
  add(waiting: Waiting): void {
    this.waiting.add(waiting);
    if (this.#isClosed) this.#opened(this.clock.now());
    else this.advance();
  }

  /** It waits no more. */
  leave(waiting: Waiting): void {
    this.waiting.delete(waiting);
  }

  /** Lets begin what may, here and in the runs that share the limiter: they take turns. */
  advance(): void {
    const { sharers } = this.limiter;
    if (!this.#isClosed) sharers.add(this);
    // Alone, as nearly always: a list of itself for each row costs as much as its turn.
    if (sharers.size === 1 && !this.#isClosed) this.takeTurn();
    else for (const sharer of [...sharers]) sharer.takeTurn();
  }

  takeTurn(): void {
    // What begins may end at once.
    if (this.#isAdvancing || this.#isClosed) return;
    this.#isAdvancing = true;
    const { inFlight } = this;
    const now = this.clock.now();
    if (this.waiting.size > 0) this.#resume(now);
    if (this.isOpen(now)) this.#opened(now);
    this.#isAdvancing = false;
    const { sharers } = this.limiter;
    if (sharers.size > 1 && this.inFlight > inFlight && sharers.delete(this)) sharers.add(this);
    this.#sleep(now);
  }

  #resume(now: number): void {
    for (const waiting of this.waiting) {
      if (waiting.readyAt > now || !this.isOpen(now, waiting.endsAt)) continue;
      this.waiting.delete(waiting);
      waiting.begin(now);
    }
  }

  /** Nothing begins from now on. */
  close(): void {
    this.#isClosed = true;
    this.#unset?.();
    const { sharers } = this.limiter;
    sharers.delete(this);
    this.limiter.isSpent = sharers.size === 0;
  }

  // Until time alone lets something begin.
  #sleep(now: number): void {
    this.#unset?.();
    if (this.#isClosed) return;
    const pacedUntil = this.pace?.opensAt ?? 0;
    const opensAt = Math.max(this.limiter.opensAt(now), pacedUntil);
    let at = opensAt > now ? opensAt : Number.POSITIVE_INFINITY;
    for (const { readyAt, endsAt } of this.waiting) {
      const isReadyAt = Math.max(readyAt, this.limiter.opensAt(now, endsAt), pacedUntil);
      if (isReadyAt > now) at = Math.min(at, isReadyAt);
    }
    if (at < Number.POSITIVE_INFINITY) this.#unset = this.clock.after(at - now, () => this.advance());
  }
}

// A run of many rows over the engine of a bulk run (Run, Lane, Limiter, the retry table), in simulated time.

import { seededRandom } from "../../../bench/outage/simulate.js";
import { Failure } from "../../../src/errors/failure.js";
import type { Limiter } from "../../../src/policy/limiter.js";
import { retryAfterMs } from "../../../src/policy/ofResponse.js";
import type { RetryState } from "../../../src/policy/retry.js";
import { Lane, type machineClock, Run, type Work } from "../../../src/policy/run.js";
import { headersOf, type No } from "./server.js";
import { hashed, type Rule, type Service } from "./services.js";

/** What a run needed. */
export interface Figures {
  /** From the first request to the last response. */
  readonly ms: number;
  readonly requests: number;
  /** Rows without a ranking, apart from those that can have none. */
  readonly lost: number;
}

// As in a bulk run: the deadline of a row, and how many rows are kept for each slot.
const timeoutMs = 60_000;
const pendingForEach = 4;
// What sockets and both programs add to a response: from 1 ms to 3.
const overheadMs = 1;
const noiseMs = 2;
// Whoever mends a rejected key starts the program again after so long.
const restartMs = 1_000;

const state: Omit<RetryState, "retries" | "timeLeftMs" | "random"> = {
  operation: "rerankDocuments",
  idempotent: undefined,
  maxRetries: 2,
  budget: 100,
  replayable: true,
  freshKey: false,
};

/** The work of a run whose `begin` is replaced. */
export const noWork: Work<never, never> = {
  take: () => undefined,
  send: () => Promise.reject(),
  succeeded() {},
  failed() {},
  settled() {},
};

/** @param limiterOf Makes the limiter of each program: a rejected key ends one, and another starts */
export function simulate(service: Service, limiterOf: () => Limiter, seed: number, rows = 1000): Figures {
  return new Simulation(service, limiterOf, seed).run(rows);
}

/**
 * A run of many rows, and right after it another of as many. @returns the figures of the second
 * @param next The service of the second run: the first one's as it has become, or another
 */
export function simulateSecond(
  service: Service,
  limiterOf: () => Limiter,
  seed: number,
  next: Service = service,
): Figures {
  const simulation = new Simulation(service, limiterOf, seed);
  simulation.run(1000);
  if (next !== service) simulation.replace(next);
  return simulation.run(1000);
}

class Simulation {
  #service: Service;
  readonly #limiterOf: () => Limiter;
  readonly #clock = new EventClock();
  readonly #seed: number;
  readonly #random: () => number;
  #rule: Rule;
  // When the service saw its first request.
  #serviceFrom = 0;
  // The rows that no program has begun, or that one left behind.
  #left: number[] = [];
  #underWay = new Set<Call>();
  #schedule!: Run;
  #active = 0;
  #rows = 0;
  #done = 0;
  #requests = 0;
  #lost = 0;
  #lastMs = 0;

  constructor(service: Service, limiterOf: () => Limiter, seed: number) {
    this.#service = service;
    this.#limiterOf = limiterOf;
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#rule = service.open(seed);
  }

  /** The rows that follow are sent to another service. */
  replace(service: Service): void {
    this.#service = service;
    this.#rule = service.open(this.#seed);
    this.#serviceFrom = this.#clock.now();
  }

  /** Runs so many rows, other than those of an earlier run. */
  run(rows: number): Figures {
    const isFirst = this.#rows === 0;
    const beganMs = this.#clock.now();
    this.#rows += rows;
    this.#left = Array.from({ length: rows }, (_, row) => this.#rows - 1 - row);
    [this.#requests, this.#lost] = [0, 0];
    this.#start();
    while (this.#done < this.#rows) if (!this.#clock.next()) throw new Error("Nothing is left to happen.");
    this.#schedule.close();
    return {
      ms: this.#lastMs - beganMs,
      requests: this.#requests,
      lost: this.#lost - (isFirst ? (this.#service.poison ?? 0) : 0),
    };
  }

  #start(): void {
    const parts = { limiter: this.#limiterOf(), clock: this.#clock, untilDeadline: true, maxPauseMs: 60_000 };
    const schedule = new Run(parts, noWork);
    schedule.begin = (now) => this.#begin(schedule, now);
    this.#schedule = schedule;
    schedule.advance();
  }

  #begin(schedule: Run, now: number): void {
    while (schedule.isOpen(now) && this.#underWay.size < pendingForEach * schedule.limiter.limit) {
      const row = this.#left.pop();
      if (row === undefined) break;
      const call = new Call(schedule, row, now + timeoutMs, (call, now) => this.#send(call, now));
      this.#underWay.add(call);
      call.begin(now);
    }
  }

  #send(call: Call, now: number): void {
    const schedule = this.#schedule;
    this.#requests += 1;
    this.#active += 1;
    const said = this.#rule({ row: call.row, at: now, ms: now - this.#serviceFrom, active: this.#active });
    const no = said !== undefined && "status" in said ? said : undefined;
    const workMs = said === undefined ? this.#service.responseMs : "afterMs" in said ? said.afterMs : 0;
    this.#clock.after(workMs + overheadMs + noiseMs * this.#random(), () => {
      this.#active -= 1;
      if (schedule !== this.#schedule) return;
      if (no === undefined) this.#settle(call, true);
      else this.#reject(call, no);
      this.#schedule.advance();
    });
  }

  #reject(call: Call, no: No): void {
    const now = this.#clock.now();
    const timeLeftMs = call.deadline - now;
    const failure = failureOf(no, now);
    const { retries } = call;
    const { waitMs } = call.decide(failure, { ...state, retries, timeLeftMs, random: this.#randomOf(call) });
    if (waitMs !== undefined) this.#wait(call, waitMs, timeLeftMs);
    else if (no.status === 401) this.#restart();
    else this.#settle(call, false);
  }

  // The random part of a row's backoff is the same whatever the scheme, so that runs of one seed can be compared.
  #randomOf({ row, retries }: Call): number {
    return hashed(row, this.#seed + 1000 * retries + 500);
  }

  // A row whose deadline passes while it waits for its turn is lost.
  #wait(call: Call, ms: number, timeLeftMs: number): void {
    const schedule = this.#schedule;
    call.unset = this.#clock.after(timeLeftMs, () => {
      if (schedule !== this.#schedule || !schedule.waiting.delete(call)) return;
      this.#settle(call, false);
      schedule.advance();
    });
    call.retryAfter(ms);
  }

  #settle(call: Call, isRanked: boolean): void {
    this.#done += 1;
    this.#lastMs = this.#clock.now();
    if (isRanked) call.responded();
    else this.#lost += 1;
    this.#underWay.delete(call);
  }

  #restart(): void {
    this.#schedule.close();
    for (const { row } of this.#underWay) this.#left.push(row);
    this.#underWay.clear();
    // What is in flight belongs to no schedule.
    this.#schedule = new Run({ limiter: this.#limiterOf(), clock: this.#clock, untilDeadline: true }, noWork);
    this.#clock.after(restartMs, () => this.#start());
  }
}

/** One row of a run. Its attempts are sent as they begin. */
class Call extends Lane {
  readonly row: number;
  readonly deadline: number;
  retries = 0;
  /** Cancels what ends its wait at the deadline. */
  unset: (() => void) | undefined;
  readonly #schedule: Run;
  readonly #send: (call: Call, now: number) => void;

  constructor(schedule: Run, row: number, deadline: number, send: (call: Call, now: number) => void) {
    super(schedule);
    this.row = row;
    this.deadline = deadline;
    this.#schedule = schedule;
    this.#send = send;
  }

  override begin(now: number): void {
    this.unset?.();
    super.begin(now);
    this.#send(this, now);
  }

  /** What `wait` does, without a promise. */
  retryAfter(ms: number): void {
    this.retries += 1;
    this.readyAt = this.ended + ms;
    this.#schedule.waiting.add(this);
    this.#schedule.advance();
  }
}

const failures = new Map<No, Failure>();

function failureOf(no: No, now: number): Failure {
  const known = no.isDate ? undefined : failures.get(no);
  if (known) return known;
  const { status: httpStatus, code } = no;
  const headers = { ...headersOf(no, now), date: new Date(now).toUTCString() };
  const asked = no.retryAfter === undefined ? undefined : retryAfterMs(headers, undefined, now);
  const failure = new Failure({
    ...{ message: "", codeSource: "body", httpStatus, code: code as Failure["code"], retryAfterMs: asked },
    executed: httpStatus === 503 ? "unknown" : "no",
    events: [eventOf(httpStatus, asked)],
  });
  if (!no.isDate) failures.set(no, failure);
  return failure;
}

function eventOf(status: number, asked: number | undefined): Failure["events"][number] {
  if (status === 429) return asked === undefined ? "exhausted" : "exhaustedTimed";
  return status === 503 ? "unavailable" : status === 401 ? "unauthenticated" : "refused";
}

interface Event {
  readonly at: number;
  run: (() => void) | undefined;
}

/** Time that passes from event to event. Events of one time happen in the order in which they were set. */
export class EventClock implements Pick<typeof machineClock, "now" | "after"> {
  #now = 0;
  // The next event is the last.
  readonly #events: Event[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.#now + ms, run };
    let [from, until] = [0, this.#events.length];
    while (from < until) {
      const middle = (from + until) >> 1;
      if ((this.#events[middle] as Event).at > event.at) from = middle + 1;
      else until = middle;
    }
    this.#events.splice(from, 0, event);
    return () => {
      event.run = undefined;
    };
  }

  /** Runs the next event. @returns false if there is none */
  next(): boolean {
    const event = this.#events.pop();
    if (event === undefined) return false;
    if (event.run === undefined) return true;
    this.#now = event.at;
    event.run();
    return true;
  }
}

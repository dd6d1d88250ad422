// A run of many rows over the engine of a bulk run (Run, Lane, Limiter, the retry table), in simulated time.

import { seededRandom } from "../../../bench/outage/simulate.js";
import { Failure } from "../../../src/errors/failure.js";
import type { Limiter } from "../../../src/policy/limiter.js";
import { retryAfterMs } from "../../../src/policy/ofResponse.js";
import { Pace } from "../../../src/policy/rate.js";
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

/** A declared rate, and what it counts of each row. */
interface Declared {
  readonly rate: ConstructorParameters<typeof Pace>[0]["rate"];
  readonly bytesOf?: (row: number) => number;
  readonly tokensOf?: (row: number) => number;
}

/** @param limiterOf Makes the limiter of each program: a rejected key ends one, and another starts */
export function simulate(
  service: Service,
  limiterOf: () => Limiter,
  seed: number,
  rows = 1000,
  declared?: Declared,
): Figures {
  return new Simulation(service, limiterOf, seed, declared).run(rows);
}

/** Three programs at one service, which know nothing of each other. @returns The requests of all */
export function simulateThree(
  service: Service,
  limiterOf: () => Limiter,
  seed: number,
  rows: number,
): number {
  const first = new Simulation(service, limiterOf, seed);
  const others = [1, 2].map((at) => new Simulation(service, limiterOf, seed + 7919 * at, undefined, first));
  const all = [first, ...others];
  for (const [at, each] of all.entries()) first.place.clock.after(50 * at, () => each.begin(rows));
  while (all.some(({ done }) => done < rows)) first.step();
  return all.reduce((sum, { requests }) => sum + requests, 0);
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
  readonly #seed: number;
  readonly #random: () => number;
  readonly #declared: Declared | undefined;
  #pace: Pace | undefined;
  // The service as all programs meet it: since when, and how much of it is in use.
  readonly place: { readonly clock: EventClock; rule: Rule; from: number; active: number };
  // The rows that no program has begun, or that one left behind.
  #left: number[] = [];
  #underWay = new Set<Call>();
  #schedule!: Run;
  #rows = 0;
  done = 0;
  requests = 0;
  #lost = 0;
  #lastMs = 0;

  /** @param beside A program that sends to the same place */
  constructor(
    service: Service,
    limiterOf: () => Limiter,
    seed: number,
    declared?: Declared,
    beside?: Simulation,
  ) {
    this.#service = service;
    this.#limiterOf = limiterOf;
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#declared = declared;
    this.place = beside?.place ?? { clock: new EventClock(), rule: service.open(seed), from: 0, active: 0 };
  }

  /** The rows that follow are sent to another service. */
  replace(service: Service): void {
    this.#service = service;
    Object.assign(this.place, { rule: service.open(this.#seed), from: this.place.clock.now() });
  }

  /** Runs so many rows, other than those of an earlier run. */
  run(rows: number): Figures {
    const isFirst = this.#rows === 0;
    const beganMs = this.place.clock.now();
    this.begin(rows);
    while (this.done < this.#rows) this.step();
    this.#schedule.close();
    return {
      ms: this.#lastMs - beganMs,
      requests: this.requests,
      lost: this.#lost - (isFirst ? (this.#service.poison ?? 0) : 0),
    };
  }

  begin(rows: number): void {
    this.#rows += rows;
    this.#left = Array.from({ length: rows }, (_, row) => this.#rows - 1 - row);
    [this.requests, this.#lost] = [0, 0];
    this.#start();
  }

  step(): void {
    if (!this.place.clock.next()) throw new Error("Nothing is left to happen.");
  }

  #start(): void {
    const { clock } = this.place;
    this.#pace = this.#declared && new Pace(this.#declared);
    const parts = { limiter: this.#limiterOf(), clock, pace: this.#pace, untilDeadline: true };
    const schedule = new Run({ ...parts, maxPauseMs: 60_000 }, noWork);
    schedule.begin = (now) => this.#begin(schedule, now);
    this.#schedule = schedule;
    schedule.advance();
  }

  #begin(schedule: Run, now: number): void {
    while (schedule.isOpen(now) && this.#underWay.size < pendingForEach * schedule.limiter.limit) {
      const row = this.#left.pop();
      if (row === undefined) break;
      const bytes = this.#declared?.bytesOf?.(row) ?? 0;
      const call = new Call(schedule, row, bytes, now + timeoutMs, (call, now) => this.#send(call, now));
      this.#underWay.add(call);
      call.begin(now);
    }
  }

  #send(call: Call, now: number): void {
    const schedule = this.#schedule;
    const { place } = this;
    this.requests += 1;
    place.active += 1;
    const said = place.rule({ row: call.row, at: now, ms: now - place.from, active: place.active });
    const no = said !== undefined && "status" in said ? said : undefined;
    const workMs = said === undefined ? this.#service.responseMs : "afterMs" in said ? said.afterMs : 0;
    place.clock.after(workMs + overheadMs + noiseMs * this.#random(), () => {
      place.active -= 1;
      if (schedule !== this.#schedule) return;
      if (no === undefined) this.#settle(call, true);
      else this.#reject(call, no);
      this.#schedule.advance();
    });
  }

  #reject(call: Call, no: No): void {
    const now = this.place.clock.now();
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
    call.unset = this.place.clock.after(timeLeftMs, () => {
      if (schedule !== this.#schedule || !schedule.waiting.delete(call)) return;
      this.#settle(call, false);
      schedule.advance();
    });
    call.retryAfter(ms);
  }

  #settle(call: Call, isRanked: boolean): void {
    this.done += 1;
    this.#lastMs = this.place.clock.now();
    if (isRanked) {
      call.responded();
      this.#pace?.counted(this.#declared?.tokensOf?.(call.row), call.bytes, call.estimated);
    } else this.#lost += 1;
    this.#underWay.delete(call);
  }

  #restart(): void {
    this.#schedule.close();
    for (const { row } of this.#underWay) this.#left.push(row);
    this.#underWay.clear();
    // What is in flight belongs to no schedule.
    this.#schedule = new Run(
      { limiter: this.#limiterOf(), clock: this.place.clock, untilDeadline: true },
      noWork,
    );
    this.place.clock.after(restartMs, () => this.#start());
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

  constructor(
    schedule: Run,
    row: number,
    bytes: number,
    deadline: number,
    send: (call: Call, now: number) => void,
  ) {
    super(schedule, bytes);
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

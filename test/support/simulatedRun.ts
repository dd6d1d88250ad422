// A run of many rows against a service, in simulated time: what a run does, without sockets.

import type { RetryEvent } from "../../src/errors/codes.js";
import { Failure } from "../../src/errors/failure.js";
import { Limiter } from "../../src/policy/limiter.js";
import { Pace } from "../../src/policy/rate.js";
import type { RetryState } from "../../src/policy/retry.js";
import { Lane, Run } from "../../src/policy/run.js";
import { LimitSearch } from "../../src/policy/search.js";
import { usual } from "./decisionRows.js";
import { EventClock, noWork } from "./refusals/simulate.js";

export { EventClock, noWork };

/** What a service makes of a request: a response after so long, or or a refusal. */
export interface Reaction {
  readonly afterMs: number;
  readonly refused?: true;
  readonly retryAfterMs?: number;
  readonly tokens?: number;
}

/** Is told of each request, and of the end of each response. */
export interface Service {
  received(now: number, bytes: number): Reaction;
  responded?(): void;
}

/** Numbers that look random, the same in each run. */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How a run goes. */
export interface Simulation {
  readonly rows: number;
  readonly concurrency: number | { readonly max: number };
  readonly rate?: ConstructorParameters<typeof Pace>[0]["rate"];
  readonly service: Service;
  readonly random: () => number;
  readonly bytesOf?: (row: number) => number;
  /** How many such runs there are at once, which know nothing of each other. */
  readonly workers?: number;
}

/** What came of it. */
export interface Figures {
  readonly ms: number;
  readonly received: number;
  readonly refused: number;
  /** Rows that were ranked. */
  readonly done: number;
}

/** Runs until all rows are done. */
export async function simulate(simulation: Simulation): Promise<Figures> {
  const clock = new EventClock();
  const figures = { received: 0, refused: 0, done: 0 };
  const { workers = 1 } = simulation;
  for (let worker = 0; worker < workers; worker++)
    clock.after(worker * 70 * simulation.random(), () => start(simulation, clock, figures));
  // What waits for its turn goes on in a microtask.
  while (figures.done < simulation.rows * workers) {
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    if (!clock.next()) throw new Error("Nothing is left to happen.");
  }
  return { ...figures, ms: clock.now() };
}

type Counted = { -readonly [Name in keyof Omit<Figures, "ms">]: Figures[Name] };

function start(simulation: Simulation, clock: EventClock, figures: Counted): void {
  const { rows, concurrency, rate, service, random, bytesOf = () => 100, workers = 1 } = simulation;
  const limiter = new Limiter(
    typeof concurrency === "number" ? concurrency : searching(concurrency.max, workers),
  );
  const pace = rate && new Pace({ rate });
  let next = 0;
  let held = 0;
  const run = new Run({ limiter, pace, clock, untilDeadline: true }, noWork);
  run.begin = (now) => {
    while (next < rows && held < 4 * limiter.limit && run.isOpen(now)) {
      held += 1;
      const bytes = bytesOf(next++);
      const lane = new Lane(run, bytes);
      lane.begin(now);
      attempt(lane, bytes, 0);
    }
  };
  const attempt = (lane: Lane, bytes: number, retries: number): void => {
    const began = clock.now();
    figures.received += 1;
    const { afterMs, refused, retryAfterMs, tokens } = service.received(began, bytes);
    clock.after(afterMs, () => {
      if (refused === undefined) {
        service.responded?.();
        lane.responded();
        pace?.counted(tokens, bytes, lane.estimated);
        figures.done += 1;
        held -= 1;
      } else {
        figures.refused += 1;
        const told = { retries, random: random() };
        void refuse(lane, told, retryAfterMs).then(() => attempt(lane, bytes, retries + 1));
      }
      run.advance();
    });
  };
  run.advance();
}

function searching(max: number, workers: number): LimitSearch {
  return Object.assign(new LimitSearch(max), { sharesService: workers > 1 });
}

type Told = Pick<RetryState, "retries" | "random">;

function refuse(lane: Lane, told: Told, retryAfterMs: number | undefined): Promise<void> {
  const events: readonly RetryEvent[] = [retryAfterMs === undefined ? "exhausted" : "exhaustedTimed"];
  const code = "RESOURCE_EXHAUSTED";
  const what = { message: "", code, codeSource: "status", events, executed: "no" } as const;
  const failure = new Failure({ ...what, httpStatus: 429, retryAfterMs });
  const timeLeftMs = Number.POSITIVE_INFINITY;
  const { waitMs = 0 } = lane.decide(failure, { ...usual, ...told, timeLeftMs });
  return lane.wait(waitMs, { untilEnded: (promise) => promise });
}

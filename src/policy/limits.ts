// The limits that the calls of a client share: those that runs search for, and the client's own, its cap. With the search
// a part of the package by itself, which few programs load.
import { isStatusError } from "../errors/statusError.js";
import type { Transport } from "../transport/exchange.js";
import type { Deadline } from "../transport/time.js";
import { memberOf } from "../values.js";
import { Limiter, LoopDelay } from "./limiter.js";
import { Pace, type SendLimits } from "./rate.js";
import { Lane, machineClock, Run } from "./run.js";
import { LimitSearch } from "./search.js";

/** What the runs of a client share. */
export interface Limiters {
  /** The limiters of the present runs. Clients made from one another share them. */
  readonly running: Map<string, Limiter>;
  /** The last run's search. Not shared with clients made from this one: their address or key may differ. */
  last?: LimitSearch | undefined;
  /** What all calls of the client, and of those made from it, may send. */
  readonly cap?: Cap | undefined;
}

/**
 * The limiter that the present runs with this maximum and `maxPauseMs` share; a later run starts from what the client's
 * last one found.
 */
export function sharedLimiter(limiters: Limiters, max: number, maxPauseMs: number): Limiter {
  const { running, last } = limiters;
  const name = `${max}/${maxPauseMs}`;
  let limiter = running.get(name);
  if (limiter === undefined || limiter.isSpent) {
    limiter = searching(max, last);
    running.set(name, limiter);
  }
  limiters.last = limiter.search;
  return limiter;
}

function searching(max: number, last?: LimitSearch): Limiter {
  return Object.assign(new Limiter(new LimitSearch(max, last?.learned)), { loop: new LoopDelay() });
}

/** The checked options of a client's cap, and the run of all its calls, once there is one. */
export interface Cap extends Pick<SendLimits, "rate"> {
  readonly concurrency?: number | { readonly max: number } | undefined;
  run?: Run | undefined;
}

/** The run of all calls of a client. */
export function runOf(cap: Cap): Run {
  const { rate, concurrency = Number.POSITIVE_INFINITY } = cap;
  const make = (): Run => {
    const limiter = typeof concurrency === "number" ? new Limiter(concurrency) : searching(concurrency.max);
    limiter.isCap = true;
    return new Run({ limiter, pace: rate && new Pace({ rate }), clock: machineClock, untilDeadline: false });
  };
  cap.run ??= make();
  return cap.run;
}

interface SingleCall {
  readonly client: { readonly transport: Pick<Transport, "maxConnections"> };
  readonly request: { readonly body: unknown };
  readonly deadline: Deadline;
  settings: object;
}

/** Makes `attempts` of a single call begin when it is the call's turn. */
export const inTurn =
  <Call extends SingleCall, R>(cap: Cap, attempts: (call: Call) => Promise<R>) =>
  async (call: Call): Promise<R> => {
    const run = runOf(cap);
    const { client, deadline, request } = call;
    const isSized = run.pace?.countsTokens && typeof request.body === "string";
    const lane = new Lane(run, isSized ? new TextEncoder().encode(request.body as string).length : 0);
    lane.isFree = false;
    lane.endsAt = run.clock.now() + deadline.leftMs;
    call.settings = { ...call.settings, policy: lane.admitted(client.transport) };
    await lane.wait(0, deadline);
    const result = await attempts(call);
    if (isStatusError(result)) lane.failed();
    else {
      lane.responded();
      lane.counted(memberOf(memberOf(result, "data"), "usage"));
    }
    run.advance();
    return result;
  };

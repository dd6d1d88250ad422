// What the calls of a client share when it makes many: the limit that a search found, and the cap of all of its calls.
import { isStatusError, loaded } from "../errors/statusError.js";
import type { Transport } from "../transport/exchange.js";
import type { Deadline } from "../transport/time.js";
import { memberOf } from "../values.js";
import { Limiter, LoopDelay } from "./limiter.js";
import { Pace, type SendLimits } from "./rate.js";
import { Lane, machineClock, Run } from "./run.js";
import type { LimitSearch } from "./search.js";

/** The limiters of a client's runs that search for their limit. */
export interface Limiters {
  /** Those of the present runs. Clients made from one another share them. */
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
export function sharedLimiter(
  Search: typeof LimitSearch,
  limiters: Limiters,
  max: number,
  maxPauseMs: number,
): Limiter {
  const { running, last } = limiters;
  const name = `${max}/${maxPauseMs}`;
  let limiter = running.get(name);
  if (limiter === undefined || limiter.isSpent) {
    limiter = searching(new Search(max, last?.learned));
    running.set(name, limiter);
  }
  limiters.last = limiter.search;
  return limiter;
}

function searching(search: LimitSearch): Limiter {
  return Object.assign(new Limiter(search), { loop: new LoopDelay() });
}

/** The checked options of a client's cap, and its run, once there is one. */
export interface Cap extends Pick<SendLimits, "rate"> {
  readonly concurrency?: number | { readonly max: number } | undefined;
  run?: Run | undefined;
}

/** The run of all calls of a client. @param Search Makes the limit if `concurrency` is no number */
export function runOf(cap: Cap, Search: typeof LimitSearch | undefined): Run {
  if (cap.run === undefined) {
    const { rate, concurrency = Number.POSITIVE_INFINITY } = cap;
    const limiter =
      typeof concurrency === "number"
        ? new Limiter(concurrency)
        : searching(new (Search as typeof LimitSearch)(concurrency.max));
    limiter.isCap = true;
    const pace = rate && new Pace({ rate });
    cap.run = new Run({ limiter, pace, clock: machineClock, untilDeadline: false });
  }
  return cap.run;
}

/** Like `runOf`; loads the search if it is needed. */
export async function loadedRunOf(cap: Cap): Promise<Run> {
  const isSearched = typeof cap.concurrency === "object";
  return runOf(cap, isSearched ? (await loaded(import("../policy/search.js"))).LimitSearch : undefined);
}

/** A single call, as far as its turn concerns it. */
interface SingleCall {
  readonly request: { readonly body: unknown };
  readonly deadline: Deadline;
  readonly client: { readonly transport: Pick<Transport, "maxConnections"> };
  settings: object;
}

/** Makes `attempts` of a single call begin when it is the call's turn. */
export const inTurn =
  <Call extends SingleCall, R>(cap: Cap, attempts: (call: Call) => Promise<R>) =>
  async (call: Call): Promise<R> => {
    const run = await loadedRunOf(cap);
    const { deadline, request } = call;
    const isSized = run.pace?.countsTokens && typeof request.body === "string";
    const lane = new Lane(run, isSized ? new TextEncoder().encode(request.body as string).length : 0);
    lane.isFree = false;
    lane.endsAt = run.clock.now() + deadline.leftMs;
    call.settings = { ...call.settings, policy: lane.admitted(call.client.transport) };
    await lane.wait(0, deadline);
    const result = await attempts(call);
    if (isStatusError(result)) lane.failed();
    else {
      const usage = memberOf(memberOf(result, "data"), "usage");
      lane.responded();
      lane.counted(memberOf(usage, "total_tokens") ?? memberOf(usage, "prompt_tokens"));
    }
    run.advance();
    return result;
  };

import type { Failure } from "../errors/failure.js";
import type { RerankResponse } from "../generated/types.js";
import { Limiter, type Limiters, pauseAskedBy, sharedLimiter } from "../policy/limiter.js";
import type { Pace } from "../policy/rate.js";
import type { Decision, RetryState } from "../policy/retry.js";
import { Lane, type Schedule } from "../policy/schedule.js";
import { LimitSearch } from "../policy/search.js";
import { memberOf } from "../values.js";
import type { RunSettings } from "./options.js";

/** What all calls ({@link RunLane}) of one bulk run share. */
export interface RunParts {
  readonly schedule: Schedule;
  readonly pace: Pace;
  /** How many of the attempts were retries. */
  retries: number;
  /** Called with the failure of each failed attempt. */
  noted(failure: Failure): void;
}

/** One call of a bulk run. The run can end the call, and can make a new call for the same request. */
export class RunLane extends Lane {
  /** How long the last response asks the run to pause, in milliseconds; 0 when it asks for no pause. */
  pauseMs = 0;
  /** Whether this machine could open no socket for the first attempt: the run makes a new call later. */
  isTooMany = false;
  /** The last failure after which the operation had run, and so was paid for. */
  paidFor: Failure | undefined;
  readonly #run: RunParts;
  #hasBegun = false;

  constructor(run: RunParts, bytes: number) {
    super(run.schedule, bytes);
    this.#run = run;
  }

  override begin(now: number): void {
    if (this.#hasBegun) this.#run.retries += 1;
    this.#hasBegun = true;
    super.begin(now);
  }

  override decide(failure: Failure, state: RetryState): Decision {
    const decision = super.decide(failure, state);
    this.pauseMs = pauseAskedBy(failure, decision);
    // If this machine could open no socket for the first attempt, the run makes a new call, whose deadline starts anew.
    // Each such failure lowers the concurrency limit, so the number of new calls is bounded.
    this.isTooMany = this.isLowered && state.retries === 0;
    if (this.isTooMany) this.#run.pace.unsent();
    if (failure.executed === "yes") this.paidFor = failure;
    this.#run.noted(failure);
    return this.isTooMany ? { waitMs: undefined, notRetried: "retries-used-up" } : decision;
  }
}

export function tokensOf(response: RerankResponse): unknown {
  const usage = memberOf(response, "usage");
  return memberOf(usage, "total_tokens") ?? memberOf(usage, "prompt_tokens");
}

/**
 * The limiter of a run. Concurrent runs of one client share a limiter, unless `concurrency` is a fixed number; a later
 * run starts from what the last one found.
 */
export function limiterOf<Id>(
  limiters: Limiters,
  { concurrency, maxPauseMs, sharesService = false }: RunSettings<Id>,
): Limiter {
  if (typeof concurrency === "number") return new Limiter(concurrency);
  const limiter = sharedLimiter(LimitSearch, limiters, concurrency.max, maxPauseMs);
  if (limiter.search) limiter.search.sharesService ||= sharesService;
  return limiter;
}

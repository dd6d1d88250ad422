import { readRerank, unusableResponse } from "../call/response.js";
import type { Client } from "../client.js";
import type { Failure } from "../errors/failure.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/types.js";
import { Limiter, type Limiters, pauseAskedBy, sharedLimiter } from "../policy/limiter.js";
import type { Pace } from "../policy/rate.js";
import { attemptPolicy, type Decision, type RetryState } from "../policy/retry.js";
import { Lane, machineClock, type Schedule } from "../policy/schedule.js";
import { LimitSearch } from "../policy/search.js";
import { joinable } from "../ranking/check.js";
import { memberOf, notify, valueOr, WithoutPrototype } from "../values.js";
import { insideOf } from "../wrappers/types.js";
import type { PendingRequest } from "./batches.js";
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

export class Calls<Id> {
  readonly #client: Pick<Client, "rerank">;
  readonly #settings: RunSettings<Id>;
  readonly #limiter: Limiter;
  // Ends the calls of a custom client. Calls of this package's clients end by `RunLane.abort`, which costs less.
  readonly #controller: AbortController = new AbortController();
  /** Whether this package made the client (false for a custom client). */
  readonly areOwn: boolean;
  /** Stops the deadline timer of each call in flight that a custom client makes. */
  readonly #unwatch: Set<() => void> = new Set();

  constructor(client: Pick<Client, "rerank">, settings: RunSettings<Id>, limiter: Limiter) {
    this.#client = client;
    this.areOwn = insideOf(client) !== undefined;
    this.#settings = settings;
    this.#limiter = limiter;
  }

  begin(pending: PendingRequest<Id>, lane: RunLane): Promise<RerankResponse> {
    const options = this.#optionsOf(pending, lane);
    if (this.areOwn) return this.#client.rerank(pending.body, options);
    return this.#watched(() => this.#client.rerank(pending.body, options));
  }

  // Makes a custom client's call, which may throw, return something that is not a promise, or never settle.
  #watched(call: () => Promise<RerankResponse>): Promise<RerankResponse> {
    const { timeoutMs } = this.#settings;
    return new Promise((resolve, reject) => {
      const stop = machineClock.after(timeoutMs, () => end(() => reject(noResponse(timeoutMs))));
      const end = (settle: () => void): void => {
        stop();
        this.#unwatch.delete(stop);
        settle();
      };
      this.#unwatch.add(stop);
      new Promise<RerankResponse>((done) => done(call())).then(
        (response) => end(() => resolve(response)),
        (error) => end(() => reject(error)),
      );
    });
  }

  /** The ranking in a response, best first; a {@link Failure} when it cannot be joined with its request. */
  rankingOf(body: RerankRequest, response: RerankResponse): RerankResponse | Failure {
    // Properties of a custom client's response, or of the caller's request, may be getters that throw. This package's
    // clients have already checked that a response is a ranking.
    const read = valueOr(
      () => joinable(body, this.areOwn ? response : readRerank(Object(response))),
      undefined,
    );
    return read ?? unusableResponse("The response cannot be read.");
  }

  /** Forgets the limit that was found: after a rejected key, the client's next run begins with few requests at once. */
  forget(): void {
    limitersOf(this.#client).last = undefined;
  }

  /** Ends all calls that are in flight. */
  abort(pending: Iterable<PendingRequest<Id>>): void {
    this.#controller.abort();
    for (const stop of this.#unwatch) stop();
    for (const { call } of pending) call?.abort();
  }

  /** Reports a success to `onAttempt`, after the limiter has set the concurrency limit that follows from it. */
  responded({ event, id }: PendingRequest<Id>): void {
    if (event) this.#report(event, id, {});
  }

  #optionsOf(pending: PendingRequest<Id>, lane: RunLane): CallOptions {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const options = new WithoutPrototype() as CallOptions & { [attemptPolicy]: Lane };
    if (!this.areOwn) options.signal = this.#controller.signal;
    options.timeoutMs = timeoutMs;
    options.attemptTimeoutMs = attemptTimeoutMs;
    options[attemptPolicy] = lane;
    lane.options = options;
    if (headers !== undefined) options.headers = headers;
    if (onAttempt)
      options.onAttempt = (event) => {
        if (event.code === undefined) pending.event = event;
        else if (!this.#controller.signal.aborted) this.#report(event, pending.id, lane);
      };
    return options;
  }

  #report(event: AttemptEvent, id: Id, { pauseMs = 0, isTooMany = false }: Partial<RunLane>): void {
    const again = isTooMany ? { waitMs: 0 } : {};
    const asked = pauseMs > 0 ? { holdMs: pauseMs } : {};
    const told = { ...event, ...again, ...asked, id, concurrency: this.#limiter.limit };
    notify(
      this.#settings.onAttempt,
      withHeaders(told, () => event.headers),
    );
  }
}

// The error of a custom client's call at its deadline. This package's clients end their calls themselves.
function noResponse(timeoutMs: number): StatusError {
  return new StatusError(`The client did not respond within ${timeoutMs} ms (timeoutMs).`, {
    code: "DEADLINE_EXCEEDED",
    executed: "unknown",
    codeSource: "client",
    operation: "rerankDocuments",
    notRetried: "deadline-too-close",
  });
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
  client: object,
  { concurrency, maxPauseMs, sharesService = false }: RunSettings<Id>,
): Limiter {
  if (typeof concurrency === "number") return new Limiter(concurrency);
  const limiter = sharedLimiter(LimitSearch, limitersOf(client), concurrency.max, maxPauseMs);
  if (limiter.search) limiter.search.sharesService ||= sharesService;
  return limiter;
}

const ofCustomClients = new WeakMap<object, Limiters>();

function limitersOf(client: object): Limiters {
  const known = insideOf(client)?.limiters ?? ofCustomClients.get(client);
  if (known !== undefined) return known;
  const limiters: Limiters = { running: new Map(), last: undefined };
  ofCustomClients.set(client, limiters);
  return limiters;
}

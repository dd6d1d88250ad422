import type { Client } from "../client.js";
import type { Failure } from "../errors/failure.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import type { RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/types.js";
import { Limiter, lowerToOpen, outOfFiles, pauseAskedBy } from "../policy/limiter.js";
import type { Decision, RetryState } from "../policy/retry.js";
import { attemptPolicy } from "../policy/retry.js";
import { type CallDeadline, Lane, machineClock, type Schedule } from "../policy/schedule.js";
import { LimitSearch } from "../policy/search.js";
import { jsonBytes } from "../ranking/plan.js";
import { memberOf, notify } from "../values.js";
import { insideOf } from "../wrappers/types.js";
import type { PendingRequest } from "./intake.js";
import type { RunSettings } from "./options.js";

/** What the lanes of a run have in common. */
export interface RunParts {
  readonly schedule: Schedule;
  /** Ends the calls of a client of the caller's own. This package's clients do not listen to it: {@link RunLane.abort} ends theirs. */
  readonly signal: AbortSignal;
  /** Called with each failed attempt. */
  noted(failure: Failure): void;
}

/** One call of a bulk run, which the run can end, and make again. */
export class RunLane extends Lane {
  override readonly signal: AbortSignal;
  /** Milliseconds for which the last response asks the run to pause; 0 for none. */
  pauseMs = 0;
  /** Whether the first attempt was one too many for this machine: then the call is over, and can be made again. */
  isTooMany = false;
  readonly #run: RunParts;
  #isAborted = false;
  #time: CallDeadline | undefined;

  constructor(run: RunParts, bytes: number) {
    super(run.schedule, bytes);
    this.signal = run.signal;
    this.#run = run;
  }

  override decide(failure: Failure, state: RetryState): Decision {
    // A failure of this machine, which tells nothing of the service.
    const isOurs = failure.codeSource === "transport" && outOfFiles(failure.cause) !== undefined;
    const decision = super.decide(failure, state, !isOurs);
    this.pauseMs = pauseAskedBy(failure, decision);
    this.#run.noted(failure);
    // The call's time begins with an attempt that can be made. Each time there are fewer at once, so this ends.
    const isLowered = isOurs && lowerToOpen(this.#run.schedule.limiter, this.epoch);
    this.isTooMany = isLowered && state.retries === 0;
    return this.isTooMany ? { waitMs: undefined, notRetried: "retries-used-up" } : decision;
  }

  override begun(time: CallDeadline): void {
    this.#time = time;
    if (this.#isAborted) time.end("aborted");
  }

  /** Ends the call, and one that has not begun as soon as it does. */
  abort(): void {
    this.#isAborted = true;
    this.#time?.end("aborted");
  }
}

export class Calls<Id> {
  readonly #client: Pick<Client, "rerank">;
  readonly #settings: RunSettings<Id>;
  readonly #limiter: Limiter;
  readonly #controller: AbortController = new AbortController();
  /** Whether the client is one of this package's. */
  readonly areOwn: boolean;
  /** For a client of the caller's own. Calls of this package's are ended by their lanes, which costs less. */
  readonly signal: AbortSignal;

  /** Ends the time of each call of a client of the caller's own. */
  readonly #unwatch: Set<() => void> = new Set();

  constructor(client: Pick<Client, "rerank">, settings: RunSettings<Id>, limiter: Limiter) {
    this.signal = this.#controller.signal;
    this.#client = client;
    this.areOwn = insideOf(client) !== undefined;
    this.#settings = settings;
    this.#limiter = limiter;
  }

  begin(pending: PendingRequest<Id>, lane: RunLane): Promise<RerankResponse> {
    const call = (): Promise<RerankResponse> =>
      this.#client.rerank(pending.body, this.#optionsOf(pending, lane));
    return this.areOwn ? call() : this.#watched(call);
  }

  // A client of the caller's own may throw, respond with what is no promise, or never.
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

  /** Ends those that are under way. */
  abort(pending: Iterable<PendingRequest<Id>>): void {
    this.#controller.abort();
    for (const stop of this.#unwatch) stop();
    for (const { call } of pending) call?.abort();
  }

  /** Tells of the attempt that was answered, once the limit is known that follows from it. */
  answered({ event, id }: PendingRequest<Id>): void {
    if (event) this.#report(event, id, {});
  }

  #optionsOf(pending: PendingRequest<Id>, lane: RunLane): CallOptions {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const { signal } = this;
    const options: CallOptions & { [attemptPolicy]: Lane } = {
      signal,
      timeoutMs,
      attemptTimeoutMs,
      [attemptPolicy]: lane,
    };
    if (headers !== undefined) options.headers = headers;
    if (onAttempt)
      options.onAttempt = (event) => {
        if (event.code === undefined) pending.event = event;
        else if (!signal.aborted) this.#report(event, pending.id, lane);
      };
    return options;
  }

  #report(event: AttemptEvent, id: Id, { pauseMs = 0, isTooMany = false }: Partial<RunLane>): void {
    const { onAttempt } = this.#settings;
    const again = isTooMany ? { waitMs: 0 } : {};
    const asked = pauseMs > 0 ? { holdMs: pauseMs } : {};
    const concurrency = this.#limiter.limit;
    if (onAttempt)
      notify(
        onAttempt,
        withHeaders({ ...event, ...again, ...asked, id, concurrency }, () => event.headers),
      );
  }
}

// This package's clients end their calls themselves.
function noResponse(timeoutMs: number): StatusError {
  return new StatusError(`The client did not respond within ${timeoutMs} ms (timeoutMs).`, {
    code: "DEADLINE_EXCEEDED",
    executed: "unknown",
    codeSource: "client",
    operation: "rerankDocuments",
    notRetried: "deadline-too-close",
  });
}

/** The bytes of a request; 0 for one that cannot be written, which its call refuses. */
export function sizeOf<Id>({ body }: PendingRequest<Id>): number {
  try {
    return jsonBytes(body);
  } catch {
    return 0;
  }
}

export function tokensOf(response: RerankResponse): unknown {
  const usage = memberOf(response, "usage");
  return memberOf(usage, "total_tokens") ?? memberOf(usage, "prompt_tokens");
}

// By what clients have in common; of runs that would find the same, and wait as long.
const shared = new WeakMap<object, Map<string, Limiter>>();

/** The limiter of a run: that of the runs beside it, of the same client, where it is to find its limit. */
export function limiterOf<Id>(
  client: object,
  { concurrency, maxPauseMs, sharesService }: RunSettings<Id>,
): Limiter {
  if (typeof concurrency === "number") return new Limiter(concurrency);
  const transport = insideOf(client)?.shared ?? client;
  const limiters = shared.get(transport) ?? new Map<string, Limiter>();
  const name = `${concurrency.max}/${maxPauseMs}`;
  let limiter = limiters.get(name);
  if (limiter === undefined || limiter.isSpent) {
    limiter = new Limiter(new LimitSearch(concurrency.max));
    shared.set(transport, limiters.set(name, limiter));
  }
  if (limiter.search) limiter.search.sharesService ||= sharesService;
  return limiter;
}

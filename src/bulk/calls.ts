import type { Client } from "../client.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import type { RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/callOptions.js";
import { Lane, type LaneOptions } from "../policy/lane.js";
import { type Limiter, MachineLimiter } from "../policy/limiter.js";
import { machineClock } from "../policy/schedule.js";
import { LimitSearch } from "../policy/search.js";
import { attemptPolicy, type CallDeadline, type PolicyOption } from "../policy/types.js";
import { jsonBytes } from "../ranking/plan.js";
import { memberOf, notify } from "../values.js";
import { insideOf } from "../wrappers/types.js";
import type { PendingRequest } from "./intake.js";
import type { RunSettings } from "./options.js";

/** What the calls of a run have in common. */
export interface RunParts extends LaneOptions {
  /** For calls of others. Calls of this package's clients do not listen to it: {@link RunLane.abort} ends them. */
  readonly signal: AbortSignal;
}

/** One call of a run, which can end it. */
export class RunLane extends Lane {
  readonly signal: AbortSignal;
  #isAborted = false;
  #time: CallDeadline | undefined;

  constructor(parts: RunParts, bytes: number) {
    super(parts, bytes);
    this.signal = parts.signal;
  }

  begun(time: CallDeadline): void {
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

  begin(pending: PendingRequest<Id>, lane: Lane): Promise<RerankResponse> {
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

  #optionsOf(pending: PendingRequest<Id>, lane: Lane): CallOptions {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const { signal } = this;
    const options: CallOptions & { [attemptPolicy]: PolicyOption } = {
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

  #report(event: AttemptEvent, id: Id, { holdMs = 0, progress }: Partial<Lane>): void {
    const { onAttempt } = this.#settings;
    const again = progress === "too-many" ? { waitMs: 0 } : {};
    const asked = holdMs > 0 ? { holdMs } : {};
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
const shared = new WeakMap<object, Map<string, Found>>();

/** The limiter of a run: that of the runs beside it, of the same client, where it is to find its limit. */
export function limiterOf<Id>(
  client: object,
  { concurrency, maxHoldMs, isOneOfMany }: RunSettings<Id>,
): Limiter {
  if (typeof concurrency === "number") return new MachineLimiter(concurrency);
  const transport = insideOf(client)?.shared ?? client;
  const limiters = shared.get(transport) ?? new Map<string, Found>();
  const name = `${concurrency.max}/${maxHoldMs}`;
  let found = limiters.get(name);
  if (found === undefined || found.limiter.isSpent) {
    const search = new LimitSearch(concurrency.max);
    found = { search, limiter: new MachineLimiter(search) };
    shared.set(transport, limiters.set(name, found));
  }
  found.search.isOneOfMany ||= isOneOfMany;
  return found.limiter;
}

interface Found {
  readonly search: LimitSearch;
  readonly limiter: Limiter;
}

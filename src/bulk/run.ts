import { unusableResponse } from "../call/response.js";
import type { Client } from "../client.js";
import type { StatusErrorDetails } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { amount, detailsOf, StatusError, withHeaders } from "../errors/statusError.js";
import type { RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/types.js";
import { Limiter, type Limiters, sharedLimiter } from "../policy/limiter.js";
import { Pace } from "../policy/rate.js";
import { attemptPolicy, worse } from "../policy/retry.js";
import { type Lane, machineClock, pendingForEach, Run, type Work } from "../policy/run.js";
import { LimitSearch } from "../policy/search.js";
import { joinable, rankingError } from "../ranking/check.js";
import { jsonBytes } from "../ranking/plan.js";
import { endOnAbort, isLate, readOn } from "../transport/time.js";
import { define, memberOf, notify, valueOr, WithoutPrototype } from "../values.js";
import type { BatchedRequest, PendingRequest } from "./batches.js";
import { Delivery } from "./delivery.js";
import { Intake, type Source } from "./intake.js";
import type {
  RerankAllCounts,
  RerankAllError,
  RerankAllRequest,
  RerankAllResult,
  RerankAllResults,
  RunSettings,
} from "./options.js";

/** A bulk run, as its caller iterates it: requests of a source, sent by one {@link Run}, each with one result. */
export class BulkRun<Id> implements Work<PendingRequest<Id>, RerankResponse> {
  readonly #run: Run<PendingRequest<Id>, RerankResponse>;
  readonly #pace: Pace;
  readonly #settings: RunSettings<Id>;
  readonly #intake: Intake<Id>;
  readonly #delivery: Delivery<RerankAllResult<Id>>;
  readonly #client: Pick<Client, "rerank">;
  readonly #limiters: Limiters;
  // The requests and batches that got no result, and are not sent again.
  readonly #undone: PendingRequest<Id>[] = [];
  #unset: (() => void) | undefined;
  #ignoreSignal: (() => void) | undefined;
  #state: "new" | "running" | "ending" | "over" = "new";
  #error: () => unknown = () => undefined;
  // A rejected key, or a pause longer than `maxPauseMs`: the run sends nothing more, and waits for its requests in flight.
  #endedBy: StatusError | undefined;
  #isStopped = false;
  #settled = 0;

  constructor(
    client: Pick<Client, "rerank">,
    limiters: Limiters,
    source: Source<RerankAllRequest<Id>>,
    settings: RunSettings<Id>,
  ) {
    const { ordered = false, maxPauseMs, concurrency, sharesService = false } = settings;
    const pace = new Pace(settings);
    this.#pace = pace;
    this.#settings = settings;
    this.#client = client;
    this.#limiters = limiters;
    // Concurrent runs of one client share a limiter, unless `concurrency` is a fixed number.
    const limiter =
      typeof concurrency === "number"
        ? new Limiter(concurrency)
        : sharedLimiter(LimitSearch, limiters, concurrency.max, maxPauseMs);
    if (limiter.search) limiter.search.sharesService ||= sharesService;
    this.#run = new Run({ limiter, pace, clock: machineClock, untilDeadline: true, maxPauseMs }, this);
    this.#intake = new Intake(source, settings, this.#run);
    this.#delivery = new Delivery(ordered);
  }

  static stopSending(results: unknown): void {
    if (!(results instanceof BulkRun)) return;
    results.#isStopped = true;
    results.#run.close();
    results.settled();
  }

  get counts(): RerankAllCounts {
    const { requests, tokens } = this.#pace;
    return { done: this.#settled, requests, retries: this.#run.retries, tokens };
  }

  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>> {
    if (this.#state === "new") this.#start();
    // Taking a result makes room for another request.
    const makesRoom = this.#delivery.size > 0;
    const next = this.#delivery.next();
    if (makesRoom) this.#run.advance();
    return next;
  }

  /** Ends the run: aborts the requests in flight and closes the source. */
  async close(): Promise<void> {
    const closed = this.#state === "over" ? undefined : this.#stop(undefined);
    this.#delivery.discard();
    await closed;
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<never> {
    // The caller's error matters more than an error of closing the source.
    await this.close().catch(() => {});
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    const { signal, totalTimeoutMs } = this.#settings;
    this.#state = "running";
    if (totalTimeoutMs !== undefined) {
      const dueAt = machineClock.now() + totalTimeoutMs;
      this.#unset = machineClock.after(totalTimeoutMs, () => {
        // Nothing more is sent. Responses that arrived while the event loop was busy are read before the run ends.
        this.#run.close();
        const settled = () => (this.#state === "running" ? this.#settled : undefined);
        readOn(isLate(dueAt, machineClock.now()), settled, () => this.end("deadline"));
      });
    }
    this.#ignoreSignal = signal && endOnAbort(signal, this);
    if (this.#state === "running") this.#intake.open();
    this.#run.advance();
  }

  take(): PendingRequest<Id> | undefined {
    while (this.#state === "running") {
      const { limiter, lanes } = this.#run;
      const finished = this.#delivery.size;
      const hasRoom =
        lanes.length + finished < pendingForEach * limiter.limit &&
        (this.#settings.ordered || finished < limiter.limit);
      const pending = this.#intake.next(hasRoom);
      const error = pending?.wrong ?? pending?.whole?.error;
      if (pending === undefined || error === undefined) return pending;
      this.#settle(pending, { id: pending.id, error });
    }
    return undefined;
  }

  // Ends the run once no call is under way, and nothing more can begin.
  settled(): void {
    const { lanes, inFlight } = this.#run;
    // Whether `maxRequests` or `maxTokens` is reached for good: nothing in flight can still lower the count.
    const isSpent = inFlight === 0 && this.#pace.limit !== undefined;
    if (isSpent) this.#run.close();
    if (lanes.length > 0) return;
    if (this.#state === "ending") {
      // A request that has failed does not wait for its other batches.
      const { inBatches } = this.#intake;
      for (const whole of inBatches) if (whole.error) this.#deliver(whole.request, whole.result(), whole);
      this.#stop({ error: this.#error() }).catch(() => {});
    }
    if (this.#state !== "running") return;
    // Whether all requests of the source have a result.
    const isDone = (): boolean => {
      const { isDry, inBatches, ready } = this.#intake;
      return isDry && inBatches.size + ready.length + this.#undone.length === 0;
    };
    if (this.#isStopped && !isDone())
      this.#end("The run was stopped.", { code: "CANCELLED", notRetried: "aborted" });
    else if (this.#endedBy !== undefined) this.#endBy(this.#endedBy);
    else {
      // One more request is read, which shows whether the limit leaves anything undone.
      const one = isSpent && this.#undone.length === 0 ? this.#intake.next(true) : undefined;
      if (one) this.#undone.push(one);
      if (isDone()) void this.#stop(this.#intake.failed);
      else if (this.#undone.length > 0 && isSpent) {
        // The run has sent as much as its caller allows.
        const { limit, requests, tokens, isEstimated } = this.#pace;
        const estimated = isEstimated ? ", and more are estimated where they have none" : "";
        const text =
          limit === "maxTokens"
            ? `The responses of the run count ${amount(tokens, "token")} (maxTokens)${estimated}.`
            : `The run has made ${amount(requests, "request")} (maxRequests).`;
        const hint = "Send the remaining requests in another run, or raise the limit.";
        this.#end(text, { code: "RESOURCE_EXHAUSTED", hint }, { limit });
      }
    }
  }

  bytesOf({ body }: PendingRequest<Id>): number {
    // A request that cannot be written as JSON has no bytes: its call fails with an error.
    return valueOr(() => jsonBytes(body), 0);
  }

  send(pending: PendingRequest<Id>, lane: Lane): PromiseLike<RerankResponse> {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const options = new WithoutPrototype() as CallOptions & { [attemptPolicy]: Lane };
    Object.assign(options, { timeoutMs, attemptTimeoutMs, headers, [attemptPolicy]: lane });
    lane.options = options;
    if (onAttempt)
      options.onAttempt = (event) => {
        if (event.code === undefined) pending.event = event;
        else if (this.#state === "running") this.#report(event, pending.id, lane);
      };
    pending.lane = lane;
    pending.call = this.#client.rerank(pending.body, options);
    return pending.call;
  }

  #report(event: AttemptEvent, id: Id, { pauseMs = 0, isTooMany = false }: Partial<Lane>): void {
    const again = isTooMany ? { waitMs: 0 } : {};
    const asked = pauseMs > 0 ? { pauseMs } : {};
    const told = { ...event, ...again, ...asked, id, concurrency: this.#run.limiter.limit };
    notify(
      this.#settings.onAttempt,
      withHeaders(told, () => event.headers),
    );
  }

  succeeded(pending: PendingRequest<Id>, lane: Lane, response: RerankResponse): void {
    const usage = memberOf(response, "usage");
    const tokens = memberOf(usage, "total_tokens") ?? memberOf(usage, "prompt_tokens");
    this.#pace.counted(tokens, lane.bytes, lane.estimated);
    // Reported after the limiter has set the concurrency limit that follows from the success.
    if (pending.event) this.#report(pending.event, pending.id, {});
    // Properties of the caller's request may be getters that throw.
    const ranking =
      valueOr(() => joinable(pending.body, response)) ?? unusableResponse("The response cannot be read.");
    if (ranking instanceof Failure) void this.#refuse(pending, lane, ranking);
    else this.#settle(pending, { id: pending.id, response: ranking });
  }

  // The response is not a usable ranking, and was paid for: the request fails and is not retried.
  async #refuse(pending: PendingRequest<Id>, lane: Lane, why: Failure) {
    lane.paidFor = why;
    // The HTTP status, headers, request id and attempts.
    const known = await pending.call?.withResponse();
    // A batch knows its documents, not where they are in the request.
    const item = pending.whole === undefined ? why.item : undefined;
    this.#settle(pending, { id: pending.id, error: rankingError(why.message, { ...known, item }) });
    this.#run.advance();
  }

  failed(pending: PendingRequest<Id>, lane: Lane, reason: unknown): void {
    const run = this.#run;
    const error = reason as StatusError;
    if (!lane.isTooMany && error.attempts.length === 0) this.#pace.unsent();
    run.ran = worse(run.ran, error);
    // A batch of a request that has failed was aborted by that request, not by the run's end.
    const isAborted = error.notRetried === "aborted" && pending.whole?.error === undefined;
    const isUndone = this.#isEndedBy(error, lane) || (run.isClosed && isAborted);
    if (!lane.isTooMany && (!isUndone || lane.paidFor))
      this.#settle(pending, { id: pending.id, error: paidError(lane.paidFor, error) });
    else {
      run.done(lane);
      pending.lane = undefined;
      if (lane.isTooMany) this.#intake.ready.push(pending);
      else this.#undone.push(pending);
    }
  }

  // Whether the run ends because of a call's error: all other requests would fail, too. The service rejects the key, asks
  // to wait too long, or the client cannot call at all.
  #isEndedBy(error: StatusError, { isAdmitted, isTooMany }: Lane): boolean {
    const { code, codeSource, notRetried, attempts, path, retryAfterMs = 0 } = error;
    const isPause = notRetried === "asked-to-wait-too-long";
    const isKey = code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED";
    const isOurs = codeSource === "client" && attempts.length === 0 && notRetried === "refused";
    // If earlier calls were prepared, an error without a path concerns its request alone.
    const isClients = isOurs && (!isAdmitted || path !== undefined);
    if (isTooMany || !(isPause || isKey || isClients)) return false;
    if (retryAfterMs > (this.#endedBy?.retryAfterMs ?? -1)) this.#endedBy = error;
    this.#run.close();
    // After a rejected key, the client's next run begins with few requests at once.
    if (!isPause) this.#limiters.last = undefined;
    return true;
  }

  #settle(pending: PendingRequest<Id>, result: RerankAllResult<Id>): void {
    if (pending.lane) this.#run.done(pending.lane);
    if (this.#state === "over") return;
    const { whole } = pending;
    const settled = whole === undefined ? result : whole.settled(pending, result);
    if (settled !== undefined) this.#deliver(pending, settled, whole);
  }

  #deliver({ number }: PendingRequest<Id>, result: RerankAllResult<Id>, whole?: BatchedRequest<Id>): void {
    if (whole !== undefined) this.#intake.inBatches.delete(whole);
    this.#settled += 1;
    this.#delivery.add(number, result);
  }

  /** Ends the run because its caller aborted it, or because of its deadline. */
  end(reason: "aborted" | "deadline"): void {
    const { signal, totalTimeoutMs } = this.#settings;
    const cause = memberOf(signal, "reason");
    if (reason === "aborted")
      this.#end("The caller aborted the run.", { code: "CANCELLED", notRetried: "aborted", cause });
    else
      this.#end(`The run was not over within ${totalTimeoutMs} ms (totalTimeoutMs).`, {
        code: "DEADLINE_EXCEEDED",
        notRetried: "deadline-too-close",
        hint: "Allow more time with totalTimeoutMs. Or send the remaining requests in another run.",
      });
  }

  #endBy(error: StatusError): void {
    const { retryAfterMs = 0, httpStatus, requestId, headers, attempts, notRetried } = error;
    if (notRetried !== "asked-to-wait-too-long") {
      this.#end(error.text, detailsOf(error));
      return;
    }
    const { maxPauseMs } = this.#settings;
    const longest =
      maxPauseMs === 0
        ? "never waits (maxPauseMs is 0)"
        : `waits no longer than ${maxPauseMs / 1000} s (maxPauseMs)`;
    this.#end(`The service asks to wait ${retryAfterMs / 1000} s, and the run ${longest}.`, {
      code: "RESOURCE_EXHAUSTED",
      ...{ notRetried, retryAfterMs, httpStatus, requestId, headers, attempts, cause: error },
      hint: "Send the rest after that time, or allow a longer wait with maxPauseMs.",
    });
  }

  // What was paid for gets its result before the run ends: each new run of the same requests would pay for it again.
  #end(message: string, details: EndDetails, more?: Pick<RerankAllError, "limit">): void {
    if (this.#state !== "running") return;
    this.#state = "ending";
    this.#error = () => Object.assign(this.#errorOf(message, details), more);
    this.#run.abort();
    this.settled();
  }

  // The error that ends the run, with what the run has done.
  #errorOf(message: string, details: EndDetails): RerankAllError<Id> {
    const { counts } = this;
    const { inBatches, ready } = this.#intake;
    const whole = [...this.#undone, ...ready].filter((each) => each.whole === undefined);
    const requests = whole.sort((a, b) => a.number - b.number);
    const notDone = [...requests, ...[...inBatches].map(({ request }) => request)].map(({ id }) => id);
    const batchesLost = [...inBatches].reduce((sum, { ranked }) => sum + ranked, 0);
    const lost = batchesLost > 0 ? `; ${batchesLost} of their batches were paid for` : "";
    const [results, left] = [amount(counts.done, "result"), amount(notDone.length, "request")];
    const text = `${message} The run ended with ${results} and ${left} without a result${lost}`;
    const { executed, executedBecause } = this.#run.ran;
    const shared = { codeSource: "client", operation: "rerankDocuments" } as const;
    const error = new StatusError(text, { ...shared, ...details, executed, executedBecause });
    return Object.assign(error, { ...counts, notDone, batchesLost });
  }

  // Rejects when closing the source fails.
  #stop(failed: Intake<Id>["failed"]): Promise<void> {
    this.#state = "over";
    this.#unset?.();
    this.#ignoreSignal?.();
    this.#run.abort();
    this.#delivery.finish(failed);
    return this.#intake.close();
  }
}

// Older browsers have no Symbol.asyncDispose, and no `await using` either: there, this name is never used.
define(BulkRun.prototype, { [Symbol.asyncDispose ?? "asyncDispose"]: BulkRun.prototype.close });

/**
 * @internal Stops a bulk run without throwing away what is in flight: nothing more is sent, no retry either, and no pause
 * is waited for. After the results of the requests in flight, the run ends with `CANCELLED`.
 * @param results What `rerankAll` returned
 */
export function stopSending<Id>(results: RerankAllResults<Id>): void {
  BulkRun.stopSending(results);
}

type EndDetails = Pick<StatusErrorDetails, "code"> & Partial<StatusErrorDetails>;

// The error of a call that the run's end aborted is that of its last attempt that was paid for, if there is one.
function paidError(failure: Failure | undefined, error: StatusError): StatusError {
  if (failure === undefined || error.notRetried !== "aborted") return error;
  const { operation, method, path, host, attempts, notRetried } = error;
  const more = { operation, method, path, host, attempts, notRetried };
  const text = `${failure.message} The run ended before a retry.`;
  return new StatusError(text, Object.assign(new Failure(failure), more));
}

import { unusableResponse } from "../call/response.js";
import type { Client } from "../client.js";
import type { StatusErrorDetails } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { amount, detailsOf, StatusError, withHeaders } from "../errors/statusError.js";
import type { AttemptEvent, CallOptions, CallPromise } from "../options/types.js";
import type { Limiters } from "../policy/limiter.js";
import { Pace } from "../policy/rate.js";
import { attemptPolicy, nothingSent, type Ran, worse } from "../policy/retry.js";
import { type Lane, machineClock, pendingForEach, Schedule } from "../policy/schedule.js";
import { joinable, rankingError } from "../ranking/check.js";
import { ranWell } from "../ranking/merge.js";
import { jsonBytes } from "../ranking/plan.js";
import { endOnAbort, isLate, readOn } from "../transport/time.js";
import { memberOf, notify, removeFrom, valueOr, WithoutPrototype } from "../values.js";
import type { BatchedRequest, PendingRequest } from "./batches.js";
import { limiterOf, RunLane, type RunParts, tokensOf } from "./calls.js";
import { Delivery } from "./delivery.js";
import { Intake, type Source } from "./intake.js";
import type {
  RerankAllCounts,
  RerankAllError,
  RerankAllRequest,
  RerankAllResult,
  RunSettings,
} from "./options.js";

// `next` calls `#start` until there are so many results, though only the first call has an effect: V8 discards compiled
// code of which a branch was taken only once.
const fewSettled = 50;

/** A bulk run: reads requests from the source, sends and retries them, and hands out results, within fixed bounds. */
export class Run<Id> implements RunParts {
  readonly schedule: Schedule;
  readonly pace: Pace;
  retries = 0;
  // How many requests got a response that is no ranking, and have no result yet.
  #refusing = 0;
  readonly #settings: RunSettings<Id>;
  readonly #intake: Intake<Id>;
  readonly #delivery: Delivery<RerankAllResult<Id>>;
  readonly #client: Pick<Client, "rerank">;
  readonly #limiters: Limiters;
  #unset: (() => void) | undefined;
  #ignoreSignal: (() => void) | undefined;
  #state: "new" | "running" | "ending" | "over" = "new";
  #error: () => unknown = () => undefined;
  // A rejected key, or a pause longer than `maxPauseMs`: the run sends nothing more, and waits for its requests in flight.
  #endedBy: StatusError | undefined;
  #isStopped = false;
  #settled = 0;
  #ran: Ran = nothingSent;

  constructor(
    client: Pick<Client, "rerank">,
    limiters: Limiters,
    source: Source<RerankAllRequest<Id>>,
    settings: RunSettings<Id>,
  ) {
    const { ordered = false, maxPauseMs } = settings;
    const limiter = limiterOf(limiters, settings);
    const pace = new Pace(settings);
    this.pace = pace;
    this.#settings = settings;
    this.#client = client;
    this.#limiters = limiters;
    const parts = { limiter, pace, clock: machineClock, untilDeadline: true, maxPauseMs };
    this.schedule = new Schedule(parts, this);
    this.#intake = new Intake(source, settings, this);
    this.#delivery = new Delivery(ordered);
  }

  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>> {
    if (this.#settled < fewSettled) this.#start();
    // Taking a result makes room for another request.
    const makesRoom = this.#delivery.size > 0;
    const next = this.#delivery.next();
    if (makesRoom) this.advance();
    return next;
  }

  /** Ends the run: aborts the requests in flight and closes the source. */
  async close(): Promise<void> {
    const closed = this.#state === "over" ? undefined : this.#stop(undefined);
    this.#delivery.discard();
    await closed;
  }

  /** Sends nothing more: the run ends with CANCELLED after the results of the requests in flight. */
  stopSending(): void {
    this.#isStopped = true;
    this.schedule.close();
    this.#finish();
  }

  noted(failure: Failure): void {
    this.#ran = worse(this.#ran, failure);
    // A call that waits for a retry would otherwise wait for a turn that never comes.
    if (this.#isSpent) this.schedule.close();
  }

  get counts(): RerankAllCounts {
    const { requests, tokens } = this.pace;
    return { done: this.#settled, requests, retries: this.retries, tokens };
  }

  // Whether `maxRequests` or `maxTokens` is reached for good: nothing in flight can still lower the count.
  get #isSpent(): boolean {
    return this.pace.limit !== undefined && this.schedule.inFlight === 0;
  }

  #start(): void {
    if (this.#state !== "new") return;
    const { signal, totalTimeoutMs } = this.#settings;
    this.#state = "running";
    if (totalTimeoutMs !== undefined) this.#endAfter(totalTimeoutMs);
    this.#ignoreSignal = signal && endOnAbort(signal, this);
    if (this.#state === "running") this.#intake.open();
    this.advance();
  }

  #endAfter(ms: number): void {
    const dueAt = machineClock.now() + ms;
    const end = (): void => this.end("deadline");
    this.#unset = machineClock.after(ms, () => {
      // Nothing more is sent. Responses that arrived while the event loop was busy are read before the run ends.
      this.schedule.close();
      const settled = (): number | undefined => (this.#state === "running" ? this.#settled : undefined);
      readOn(isLate(dueAt, machineClock.now()), settled, end);
    });
  }

  /** Begins what may begin now, and ends the run if nothing is left. */
  advance(): void {
    this.schedule.advance();
    this.#finish();
  }

  begin(now: number): void {
    while (this.#state === "running" && this.schedule.isOpen(now)) {
      const pending = this.#intake.next(this.#hasRoom);
      if (pending === undefined) break;
      const error = pending.wrong ?? pending.whole?.error;
      if (error) this.#settle(pending, { id: pending.id, error });
      else this.#send(pending, now);
    }
    this.#finish();
  }

  // Ends the run once nothing is in flight, and nothing more can begin.
  #finish(): void {
    const { pending, inBatches } = this.#intake;
    if (this.#state === "ending" && !pending.some(({ call }) => call?.paidFor)) {
      // A request that has failed does not wait for its other batches.
      for (const whole of inBatches) if (whole.error) this.#deliver(whole.request, whole.result(), whole);
      this.#stop({ error: this.#error() }).catch(() => {});
    }
    if (this.schedule.inFlight + this.#refusing > 0 || this.#state !== "running") return;
    if (this.#isStopped && !this.#intake.isDone)
      this.#end("The run was stopped.", { code: "CANCELLED", notRetried: "aborted" });
    else if (this.#endedBy === undefined) {
      // One more request is read, which shows whether the limit leaves anything undone.
      if (this.#isSpent && pending.length === 0) this.#intake.next(true);
      if (this.#intake.isDone) void this.#stop(this.#intake.failed);
      else if (this.#isSpent && pending.length > 0) this.#endAtLimit();
    } else this.#endBy(this.#endedBy);
  }

  get #hasRoom(): boolean {
    const { limit } = this.schedule.limiter;
    const finished = this.#delivery.size;
    if (!this.#settings.ordered && finished >= limit) return false;
    return this.#intake.pending.length + finished < pendingForEach * limit;
  }

  #send(pending: PendingRequest<Id>, now: number): void {
    const { pace } = this;
    // A request that cannot be written as JSON has no bytes: its call fails with an error.
    const lane = new RunLane(this, pace.countsTokens ? valueOr(() => jsonBytes(pending.body), 0) : 0);
    pending.call = lane;
    lane.begin(now);
    const call = this.#client.rerank(pending.body, this.#optionsOf(pending, lane));
    call.then(
      (response) => {
        lane.responded();
        pace.counted(tokensOf(response), lane.bytes, lane.estimated);
        this.#ran = ranWell;
        // Reported after the limiter has set the concurrency limit that follows from the success.
        if (pending.event) this.#report(pending.event, pending.id, {});
        // Properties of the caller's request may be getters that throw.
        const ranking =
          valueOr(() => joinable(pending.body, response), undefined) ??
          unusableResponse("The response cannot be read.");
        if (ranking instanceof Failure) void this.#refuse(pending, lane, ranking, call);
        else this.#settle(pending, { id: pending.id, response: ranking });
        this.advance();
      },
      (error: StatusError) => this.#failed(pending, lane, error),
    );
  }

  #optionsOf(pending: PendingRequest<Id>, lane: RunLane): CallOptions {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const options = new WithoutPrototype() as CallOptions & { [attemptPolicy]: Lane };
    options.timeoutMs = timeoutMs;
    options.attemptTimeoutMs = attemptTimeoutMs;
    options[attemptPolicy] = lane;
    lane.options = options;
    if (headers !== undefined) options.headers = headers;
    if (onAttempt)
      options.onAttempt = (event) => {
        if (event.code === undefined) pending.event = event;
        else if (this.#state !== "over") this.#report(event, pending.id, lane);
      };
    return options;
  }

  #report(event: AttemptEvent, id: Id, { pauseMs = 0, isTooMany = false }: Partial<RunLane>): void {
    const again = isTooMany ? { waitMs: 0 } : {};
    const asked = pauseMs > 0 ? { pauseMs } : {};
    const told = { ...event, ...again, ...asked, id, concurrency: this.schedule.limiter.limit };
    notify(
      this.#settings.onAttempt,
      withHeaders(told, () => event.headers),
    );
  }

  // The response is not a usable ranking, and was paid for: the request fails and is not retried.
  async #refuse(pending: PendingRequest<Id>, lane: RunLane, why: Failure, call: CallPromise<unknown>) {
    lane.paidFor = why;
    this.#refusing += 1;
    // The HTTP status, headers, request id and attempts.
    const known = await call.withResponse();
    this.#refusing -= 1;
    // A batch knows its documents, not where they are in the request.
    const item = pending.whole === undefined ? why.item : undefined;
    this.#settle(pending, { id: pending.id, error: rankingError(why.message, { ...known, item }) });
    this.advance();
  }

  #failed(pending: PendingRequest<Id>, lane: RunLane, error: StatusError): void {
    lane.failed();
    if (!lane.isTooMany && error.attempts.length === 0) this.pace.unsent();
    this.#ran = worse(this.#ran, error);
    if (lane.isTooMany) this.#intake.putBack(pending);
    else if (!this.#isEndedBy(error, lane) || lane.paidFor)
      this.#settle(pending, { id: pending.id, error: paidError(lane.paidFor, error) });
    this.advance();
  }

  // Whether the run ends because of a call's error.
  #isEndedBy(error: StatusError, { isAdmitted }: RunLane): boolean {
    const isPause = error.notRetried === "asked-to-wait-too-long";
    if (!isPause && !endsRun(error, isAdmitted)) return false;
    if ((error.retryAfterMs ?? 0) > (this.#endedBy?.retryAfterMs ?? -1)) this.#endedBy = error;
    this.schedule.close();
    // After a rejected key, the client's next run begins with few requests at once.
    if (!isPause) this.#limiters.last = undefined;
    return true;
  }

  #settle(pending: PendingRequest<Id>, result: RerankAllResult<Id>): void {
    if (this.#state === "over") return;
    const { whole } = pending;
    removeFrom(this.#intake.pending, pending);
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
    if (reason === "aborted") {
      const cause = memberOf(signal, "reason");
      this.#end("The caller aborted the run.", { code: "CANCELLED", notRetried: "aborted", cause });
    } else {
      this.#end(`The run was not over within ${totalTimeoutMs} ms (totalTimeoutMs).`, {
        code: "DEADLINE_EXCEEDED",
        notRetried: "deadline-too-close",
        hint: "Allow more time with totalTimeoutMs. Or send the remaining requests in another run.",
      });
    }
  }

  // Ends the run because of one request: its key is rejected, or the service asks to wait too long.
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

  // Ends the run because it has sent as much as its caller allows.
  #endAtLimit(): void {
    const { limit, requests, tokens, isEstimated } = this.pace;
    const estimated = isEstimated ? ", and more are estimated where they have none" : "";
    const text =
      limit === "maxTokens"
        ? `The responses of the run count ${amount(tokens, "token")} (maxTokens)${estimated}.`
        : `The run has made ${amount(requests, "request")} (maxRequests).`;
    const hint = "Send the remaining requests in another run, or raise the limit.";
    this.#end(text, { code: "RESOURCE_EXHAUSTED", hint }, { limit });
  }

  // What was paid for gets its result before the run ends: each new run of the same requests would pay for it again.
  #end(message: string, details: EndDetails, more?: Pick<RerankAllError, "limit">): void {
    if (this.#state !== "running") return;
    this.#state = "ending";
    this.#error = () => Object.assign(this.#errorOf(message, details), more);
    this.schedule.close();
    for (const { call } of this.#intake.pending) if (call?.paidFor) call.abort();
    this.#finish();
  }

  // The error that ends the run, with what the run has done.
  #errorOf(message: string, details: EndDetails): RerankAllError<Id> {
    const { counts } = this;
    const { notDone, batchesLost } = this.#intake;
    const lost = batchesLost > 0 ? `; ${batchesLost} of their batches were paid for` : "";
    const [results, requests] = [amount(counts.done, "result"), amount(notDone.length, "request")];
    const text = `${message} The run ended with ${results} and ${requests} without a result${lost}`;
    const { executed, executedBecause } = this.schedule.inFlight > 0 ? worse(this.#ran, underWay) : this.#ran;
    const shared = { codeSource: "client", operation: "rerankDocuments" } as const;
    const error = new StatusError(text, { ...shared, ...details, executed, executedBecause });
    return Object.assign(error, { ...counts, notDone, batchesLost });
  }

  // Rejects when closing the source fails.
  #stop(failed: Intake<Id>["failed"]): Promise<void> {
    this.#state = "over";
    this.schedule.close();
    this.#unset?.();
    this.#ignoreSignal?.();
    for (const { call } of this.#intake.pending) call?.abort();
    this.#delivery.finish(failed);
    return this.#intake.close();
  }
}

type EndDetails = Pick<StatusErrorDetails, "code"> & Partial<StatusErrorDetails>;

/** Whether the operation ran, for a request in flight: unknown. */
const underWay: Ran = { executed: "unknown", executedBecause: "no-answer" };

/** Whether all other requests would fail too: the service rejects the key, or the client cannot call at all. */
function endsRun(error: StatusError, isAdmitted: boolean): boolean {
  if (error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED") return true;
  const refusedHere = error.codeSource === "client" && error.attempts.length === 0;
  // If earlier calls were prepared, an error without a path concerns its request alone.
  const isClients = !isAdmitted || error.path !== undefined;
  return refusedHere && error.notRetried === "refused" && isClients;
}

// The error of a call that was aborted because the run ended. If an attempt of the call was paid for, the error is that
// of the last such attempt.
function paidError(failure: Failure | undefined, error: StatusError): StatusError {
  if (failure === undefined || error.notRetried !== "aborted") return error;
  const { operation, method, path, host, attempts, notRetried } = error;
  const more = { operation, method, path, host, attempts, notRetried };
  const text = `${failure.message} The run ended before a retry.`;
  return new StatusError(text, Object.assign(new Failure(failure), more));
}

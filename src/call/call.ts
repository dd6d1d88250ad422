import { requestTracer } from "#platform";
import type { Attempt } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { isStatusError, withHeaders } from "../errors/statusError.js";
import { budget as budgetRule } from "../policy/decisions.js";
import { type Decision, decideRetry, isRetrySafe, nothingSent, worse } from "../policy/retry.js";
import { redactorOf } from "../redact/redact.js";
import type { TransportResponse } from "../transport/exchange.js";
import { isForm } from "../transport/transport.js";
import { memberOf, notify, valueOr } from "../values.js";
import { attemptRecord, callError, secretsOf, send, targetOf } from "./attempt.js";
import { Deadline } from "./deadline.js";
import { unexpectedFailure } from "./noResponse.js";
import { timesOf } from "./request.js";
import type { Answered, CallSettings, Outcome, PreparedRequest, RunningCall } from "./types.js";

/** Makes one call: attempts and the waits between them, all within one deadline. @throws StatusError */
export function makeCall<T>(request: PreparedRequest<T>, settings: CallSettings): Promise<Outcome<T>> {
  return (
    requestTracer()?.(targetOf(request), () => runCall(request, settings), request.content) ??
    runCall(request, settings)
  );
}

async function runCall<T>(request: PreparedRequest<T>, settings: CallSettings): Promise<Outcome<T>> {
  const { client } = settings;
  const { timeoutMs, attemptTimeoutMs } = timesOf(request, settings);
  const deadline = new Deadline(timeoutMs, attemptTimeoutMs, settings.signal);
  const call = {
    client,
    settings,
    request,
    timeoutMs,
    deadline,
    attempts: [],
    ran: nothingSent,
    key: "",
    keys: [],
    freshSocket: !isRetrySafe(request.operation, settings.idempotent),
    retriedFree: false,
  };
  settings.policy?.begun?.(deadline);
  client.calls.add(deadline);
  try {
    return await runAttempts(call);
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw callError(call, unexpectedFailure(error, secretsOf(call)), "not-transient");
  } finally {
    client.calls.delete(deadline);
    deadline.dispose();
  }
}

async function runAttempts<T>(call: RunningCall<T>): Promise<Outcome<T>> {
  const { client, attempts, deadline } = call;
  const { policy } = call.settings;
  const { budget } = client;
  for (;;) {
    const started = performance.now();
    const number = attempts.length + 1;
    const result = await send(call, number);
    const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
    if (!(result instanceof Failure)) {
      budget.left = Math.min(budgetRule.full, budget.left + budgetRule.successGain);
      return succeed(call, result, number, durationMs);
    }
    call.ran = worse(call.ran, result);
    if (result.requested === false) throw callError(call, result, "refused");
    const attempt = attemptRecord(result, number, durationMs);
    attempts.push(attempt);
    const free = policy !== undefined || isFree(call, result);
    const { waitMs, notRetried } = decide(call, result, free ? budgetRule.full : budget.left);
    report(call, attempt, result, waitMs);
    if (waitMs === undefined) throw callError(call, result, notRetried);
    if (free) call.retriedFree = true;
    else budget.left -= budgetRule.retryCost;
    if (needsOtherSocket(result)) call.freshSocket = true;
    await (policy?.wait(waitMs, deadline) ?? deadline.wait(waitMs));
    if (deadline.ended === "deadline") throw callError(call, result, "deadline-too-close");
  }
}

function succeed<T>(
  call: RunningCall<T>,
  success: Answered<T>,
  number: number,
  durationMs: number,
): Outcome<T> {
  const { attempts, client, settings } = call;
  // The call has succeeded: an error while it is reported is ignored.
  if (settings.onAttempt || client.log)
    valueOr(() => report(call, attemptRecord(success, number, durationMs), success), undefined);
  return new Succeeded(success, attempts, durationMs);
}

// A class: for an object literal with a getter, V8 makes a new hidden class in each call, a third of the call's CPU.
class Succeeded<T> implements Outcome<T> {
  declare readonly data: T;
  declare readonly response: TransportResponse;
  readonly #success: Answered<T>;
  readonly #failed: readonly Attempt[];
  readonly #durationMs: number;

  constructor(success: Answered<T>, failed: readonly Attempt[], durationMs: number) {
    this.data = success.data;
    this.response = success.response;
    this.#success = success;
    this.#failed = failed;
    this.#durationMs = durationMs;
  }

  // Computed on access: most callers never read the attempts.
  get attempts(): readonly Attempt[] {
    return [...this.#failed, attemptRecord(this.#success, this.#failed.length + 1, this.#durationMs)];
  }
}

// A reused connection that the server had closed is no sign of trouble: one such retry per call costs no retry budget.
function isFree<T>({ retriedFree }: RunningCall<T>, { reusedSocket }: Failure): boolean {
  return reusedSocket === true && !retriedFree;
}

// 421 means that this connection leads to a server that does not serve the address.
function needsOtherSocket({ reusedSocket, httpStatus }: Failure): boolean {
  return reusedSocket === true || httpStatus === 421;
}

function decide<T>(call: RunningCall<T>, failure: Failure, budget: number): Decision {
  const { client, settings, request, deadline, attempts } = call;
  const { body } = request;
  const state = {
    operation: request.operation,
    idempotent: settings.idempotent,
    retries: attempts.length - 1,
    maxRetries: settings.maxRetries,
    timeLeftMs: deadline.ended ? 0 : deadline.leftMs,
    budget,
    replayable: !isForm(body) || body.part.file.replayable,
    freshKey:
      typeof client.apiKey === "function" &&
      attempts.slice(0, -1).every((attempt) => memberOf(attempt, "httpStatus") !== 401),
    random: Math.random(),
  };
  return settings.policy?.decide(failure, state) ?? decideRetry(failure, state);
}

function report<T>(
  call: RunningCall<T>,
  attempt: Attempt,
  result: Answered<T> | Failure,
  waitMs?: number,
): void {
  const { client, settings, request } = call;
  const { onAttempt } = settings;
  const { log } = client;
  if (onAttempt === undefined && !log) return;
  const event = { ...attempt, ...targetOf(request), ...(waitMs !== undefined && { waitMs }) };
  withHeaders(event, () => attempt.headers);
  notify(onAttempt, event);
  if (log) log(event, { request, result, redact: redactorOf(secretsOf(call)) });
}

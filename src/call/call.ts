import { tracedCall, watchesAttempts } from "#platform";
import type { NotRetried } from "../errors/codes.js";
import type { Attempt } from "../errors/details.js";
import type { StatusError } from "../errors/statusError.js";
import { budget as budgetRule } from "../policy/decisions.js";
import {
  type Decision,
  decideRetry,
  isRepeatable,
  nothingSent,
  type Ran,
  ranIn,
  worse,
} from "../policy/retry.js";
import { redactorOf } from "../redact/redact.js";
import { isForm, type TransportResponse } from "../transport/transport.js";
import { memberOf } from "../values.js";
import { readAnswer, type Unusable } from "./answer.js";
import { callError, failureRecord, secretsOf, send, sendTraced, successRecord, targetOf } from "./attempt.js";
import { Deadline } from "./deadline.js";
import { Failure } from "./failure.js";
import { notify } from "./notify.js";
import { prepare, timesOf } from "./request.js";
import type {
  CallSettings,
  OperationInput,
  Outcome,
  PreparedRequest,
  Purpose,
  Run,
  Success,
} from "./types.js";

/** One call: an operation with its input, and how its answer is read. */
export interface Call<T> extends OperationInput {
  /** Makes the call's value of the answer's JSON object. */
  readonly read: (value: object) => T | Unusable;
}

/** Makes one call: attempts and the waits between them, all within one deadline. @throws StatusError */
export function makeCall<T>(call: Call<T>, settings: CallSettings): Promise<Outcome<T>> {
  const { operation, body, read } = call;
  const readJson = (answer: TransportResponse, secrets: readonly string[]) =>
    readAnswer(answer, secrets, read);
  const purpose = { operation, body, read: readJson };
  return makeRequest(prepare(settings.client.baseUrl, call), purpose, settings);
}

/** The same for a request made ready already. @throws StatusError */
export function makeRequest<T>(
  request: PreparedRequest,
  purpose: Purpose<T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  const { operation, body } = purpose;
  return tracedCall(
    () => targetOf(operation, request),
    () => runCall(request, purpose, settings),
    body,
  );
}

async function runCall<T>(
  request: PreparedRequest,
  call: Purpose<T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  const { client } = settings;
  const times = timesOf(call.operation, request, settings);
  const deadline = new Deadline(times, settings.signal);
  const run = {
    client,
    call,
    settings,
    request,
    timeoutMs: times.timeoutMs,
    deadline,
    attempts: [],
    key: "",
    freshSocket: !isRepeatable(call.operation, settings.repeatable),
    retriedFree: false,
  };
  client.calls.add(deadline);
  try {
    return await runAttempts(run);
  } finally {
    client.calls.delete(deadline);
    deadline.dispose();
  }
}

async function runAttempts<T>(run: Run<T>): Promise<Outcome<T>> {
  const { client, attempts, deadline } = run;
  const { policy } = run.settings;
  const { budget } = client;
  let ran = nothingSent;
  for (;;) {
    const started = performance.now();
    const number = attempts.length + 1;
    const result = watchesAttempts() ? await sendTraced(run, number) : await send(run);
    const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
    if (!(result instanceof Failure)) {
      budget.left = Math.min(budgetRule.full, budget.left + budgetRule.successGain);
      return succeed(run, result, number, durationMs);
    }
    ran = worse(ran, ranIn(result.details));
    if (result.details.requested === false) throw callFailure(run, result, ran, "refused");
    const attempt = failureRecord(result, number, durationMs);
    attempts.push(attempt);
    const free = policy !== undefined || isFree(run, result);
    const { waitMs, notRetried } = decide(run, result, free ? budgetRule.full : budget.left);
    report(run, attempt, result, waitMs);
    if (waitMs === undefined) throw callFailure(run, result, ran, notRetried);
    if (free) run.retriedFree = true;
    else budget.left -= budgetRule.retryCost;
    if (needsOtherSocket(result)) run.freshSocket = true;
    await (policy?.wait(waitMs, deadline) ?? deadline.wait(waitMs));
    if (deadline.ended === "deadline") throw callFailure(run, result, ran, "deadline-too-close");
  }
}

function succeed<T>(run: Run<T>, success: Success<T>, number: number, durationMs: number): Outcome<T> {
  const { attempts, client, settings } = run;
  if (settings.onAttempt || client.log)
    report(run, successRecord(success.answer, number, durationMs), success.answer);
  return new Succeeded(success, attempts, durationMs);
}

// A class: for a getter in an object literal V8 makes a hidden class in each call, which costs a third of the call's CPU.
class Succeeded<T> implements Outcome<T> {
  readonly data: T;
  readonly answer: TransportResponse;
  readonly #failed: readonly Attempt[];
  readonly #durationMs: number;

  constructor({ data, answer }: Success<T>, failed: readonly Attempt[], durationMs: number) {
    this.data = data;
    this.answer = answer;
    this.#failed = failed;
    this.#durationMs = durationMs;
  }

  // Made when asked for, which most callers never do.
  get attempts(): readonly Attempt[] {
    return [...this.#failed, successRecord(this.answer, this.#failed.length + 1, this.#durationMs)];
  }
}

// A connection that its server had closed says nothing of the service: once a call, its retry costs no budget.
function isFree({ retriedFree }: { retriedFree: boolean }, { details }: Failure): boolean {
  return details.reusedSocket === true && !retriedFree;
}

// 421: this connection leads to a server that cannot answer for the address.
function needsOtherSocket({ details }: Failure): boolean {
  return details.reusedSocket === true || details.httpStatus === 421;
}

function decide<T>(run: Run<T>, { details }: Failure, budget: number): Decision {
  const { client, call, settings, deadline, attempts } = run;
  const { body } = run.request;
  const input = {
    operation: call.operation,
    repeatable: settings.repeatable,
    events: details.events,
    code: details.code,
    retries: attempts.length - 1,
    maxRetries: settings.maxRetries,
    retryAfterMs: details.retryAfterMs,
    timeLeftMs: deadline.ended ? 0 : deadline.leftMs,
    budget,
    replayable: !isForm(body) || body.part.file.replayable,
    freshKey:
      typeof client.apiKey === "function" &&
      attempts.slice(0, -1).every((attempt) => memberOf(attempt, "httpStatus") !== 401),
    random: Math.random(),
  };
  return settings.policy?.decide(input, details) ?? decideRetry(input);
}

function callFailure<T>(run: Run<T>, failure: Failure, ran: Ran, notRetried: NotRetried): StatusError {
  const { call, request, attempts } = run;
  return callError(targetOf(call.operation, request), failure, ran, { attempts, notRetried });
}

function report<T>(
  run: Run<T>,
  attempt: Attempt,
  result: TransportResponse | Failure,
  waitMs?: number,
): void {
  const { call, client, settings, request } = run;
  const { onAttempt } = settings;
  const { log } = client;
  if (onAttempt === undefined && !log) return;
  const event = { ...attempt, ...targetOf(call.operation, request), ...(waitMs !== undefined && { waitMs }) };
  notify(onAttempt, event);
  if (log) log(event, { request: request.body, result, redact: redactorOf(secretsOf(run)) });
}

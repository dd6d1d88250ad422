import { traced } from "#platform";
import type { NotRetried } from "../errors/codes.js";
import { memberOf } from "../errors/memberOf.js";
import type { Attempt, StatusError } from "../errors/statusError.js";
import { Multipart } from "../files/multipart.js";
import { SourceError } from "../files/sourceError.js";
import { type Exchange, TransportFailure, type TransportResponse } from "../transport/transport.js";
import { readAnswer, type Unusable } from "./answer.js";
import { currentKey } from "./apiKey.js";
import type { Outcome } from "./callPromise.js";
import { Deadline } from "./deadline.js";
import { budget as budgetRule, maxResponseBytes } from "./decisions.js";
import { endedFailure, Failure, networkFailure, sourceFailure, unexpectedFailure } from "./failure.js";
import { notify } from "./notify.js";
import { callError, failureRecord, successRecord, targetOf } from "./records.js";
import { type OperationInput, type PreparedRequest, prepare } from "./request.js";
import { type Decision, decideRetry, isRepeatable, nothingSent, type Ran, ranIn, worse } from "./retry.js";
import type { CallSettings, ClientSettings } from "./settings.js";
import { timesOf } from "./times.js";

/** One call: an operation with its input, and how its answer is read. */
export interface Call<T> extends OperationInput {
  /** Makes the call's value of the answer's JSON object. */
  readonly read: (value: object) => T | Unusable;
}

/** Makes one call: attempts and the waits between them, all within one deadline. @throws StatusError */
export function makeCall<T>(
  client: ClientSettings,
  call: Call<T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  const request = prepare(client.baseUrl, call);
  return traced(
    () => targetOf(call.operation, request),
    () => runCall(client, call, settings, request),
  );
}

// A call on its way.
interface Run<T> {
  readonly client: ClientSettings;
  readonly call: Call<T>;
  readonly settings: CallSettings;
  readonly request: PreparedRequest;
  readonly timeoutMs: number;
  readonly deadline: Deadline;
  readonly attempts: Attempt[];
}

async function runCall<T>(
  client: ClientSettings,
  call: Call<T>,
  settings: CallSettings,
  request: PreparedRequest,
): Promise<Outcome<T>> {
  const times = timesOf(call, settings);
  const deadline = new Deadline(times, settings.signal);
  const run = { client, call, settings, request, timeoutMs: times.timeoutMs, deadline, attempts: [] };
  try {
    return await runAttempts(run);
  } finally {
    deadline.dispose();
  }
}

async function runAttempts<T>(run: Run<T>): Promise<Outcome<T>> {
  const { client, attempts, deadline } = run;
  const { budget } = client;
  let ran = nothingSent;
  for (;;) {
    const started = performance.now();
    const result = await attempt(run);
    const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
    const number = attempts.length + 1;
    if (!(result instanceof Failure)) {
      budget.left = Math.min(budgetRule.full, budget.left + budgetRule.successGain);
      attempts.push(successRecord(result.answer, number, durationMs));
      report(run);
      return { data: result.data, answer: result.answer, attempts };
    }
    ran = worse(ran, ranIn(result.details));
    if (result.details.requested === false) throw errorOf(run, result, ran, "refused");
    attempts.push(failureRecord(result, number, durationMs));
    const { waitMs, notRetried } = decide(run, result);
    report(run, waitMs);
    if (waitMs === undefined) throw errorOf(run, result, ran, notRetried);
    budget.left -= budgetRule.retryCost;
    await deadline.wait(waitMs);
  }
}

/** One request and its answer: asks for the key, sends, reads. Never rejects. */
async function attempt<T>(run: Run<T>): Promise<Success<T> | Failure> {
  const { client, call, settings, request, deadline, timeoutMs } = run;
  let key = "";
  let exchange: Exchange | undefined;
  try {
    if (!deadline.ended) {
      const found =
        typeof client.apiKey === "string" ? client.apiKey : await deadline.during(currentKey(client.apiKey));
      if (found instanceof Failure) return found;
      key = found ?? "";
      if (typeof request.body === "object") await deadline.during(request.body.part.file.check());
    }
    if (deadline.ended) return endedFailure(deadline.ended, timeoutMs, undefined, settings.signal?.reason);
    exchange = client.transport.send({
      method: request.method,
      url: request.url,
      headers: headersOf(run, key),
      body: request.body,
      maxResponseBytes: maxResponseBytes[call.operation],
      freshSocket: !isRepeatable(call.operation, settings.repeatable),
      connectTimeoutMs: client.connectTimeoutMs,
      lifetime: deadline,
    });
    deadline.running = exchange;
    const answer = await exchange.response;
    const data = readAnswer(answer, key, call.read);
    return data instanceof Failure ? data : { data, answer };
  } catch (cause) {
    if (deadline.ended) return endedFailure(deadline.ended, timeoutMs, exchange, settings.signal?.reason);
    if (cause instanceof SourceError) return sourceFailure(cause);
    return cause instanceof TransportFailure ? networkFailure(cause, key) : unexpectedFailure(cause);
  } finally {
    deadline.attemptOver();
  }
}

interface Success<T> {
  readonly data: T;
  readonly answer: TransportResponse;
}

function headersOf<T>({ client, settings, request }: Run<T>, key: string): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": client.userAgent,
    ...settings.headers,
    authorization: `Bearer ${key}`,
    "content-type": typeof request.body === "object" ? request.body.contentType : "application/json",
  };
}

function decide<T>(run: Run<T>, { details }: Failure): Decision {
  const { client, call, settings, deadline, attempts } = run;
  const { body } = call;
  return decideRetry({
    operation: call.operation,
    repeatable: settings.repeatable,
    events: details.events,
    code: details.code,
    retries: attempts.length - 1,
    maxRetries: settings.maxRetries,
    retryAfterMs: details.retryAfterMs,
    timeLeftMs: deadline.ended ? 0 : deadline.leftMs,
    budget: client.budget.left,
    replayable: !(body instanceof Multipart) || body.part.file.replayable,
    freshKey:
      typeof client.apiKey === "function" &&
      attempts.slice(0, -1).every((attempt) => memberOf(attempt, "httpStatus") !== 401),
    random: Math.random(),
  });
}

function errorOf<T>(run: Run<T>, failure: Failure, ran: Ran, notRetried: NotRetried): StatusError {
  const { call, request, attempts } = run;
  return callError(targetOf(call.operation, request), failure, ran, { attempts, notRetried });
}

function report<T>({ call, settings, request, attempts }: Run<T>, waitMs?: number): void {
  const last = attempts.at(-1);
  if (settings.onAttempt === undefined || last === undefined) return;
  const target = targetOf(call.operation, request);
  notify(settings.onAttempt, { ...last, ...target, ...(waitMs !== undefined && { waitMs }) });
}

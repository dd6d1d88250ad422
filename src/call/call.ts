import {
  hiding,
  isTraced,
  keyAdvice,
  loadHiding,
  mocked,
  publish,
  publishRequest,
  unseenIn,
} from "#platform";
import {
  type Attempt,
  isIdempotentKind,
  type NotRetried,
  type OperationName,
  type Target,
} from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import { SourceError } from "../files/fileSource.js";
import { operations } from "../generated/contract.js";
import { keyProblem } from "../options/arguments.js";
import type { ApiKey, CallOptions } from "../options/types.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { budget as budgetRule } from "../policy/decisions.js";
import { attemptPolicy, decideRetry, kindOf, nothingSent, worse } from "../policy/retry.js";
import type { Lane } from "../policy/run.js";
import type { Redact } from "../redact/redact.js";
import { type Exchange, isTransportFailure } from "../transport/exchange.js";
import { Deadline } from "../transport/time.js";
import { isInstance, memberOf, notify, ownValue, valueOr, wordsOf } from "../values.js";
import type { failureIn as explained } from "./errorResponse.js";
import {
  endedFailure,
  networkFailure,
  redactorIfLoaded,
  toldBy,
  toldBySource,
  unexpectedFailure,
  unexplained,
  unsent,
} from "./noResponse.js";
import { noValue } from "./response.js";
import { type ClientConfig, callSettings } from "./settings.js";
import type { CallSettings, Outcome, PreparedRequest, Received, RunningCall } from "./types.js";

/**
 * Makes one call: its request, attempts and the waits between them, all within one deadline that begins with it.
 * @param prepare Makes the request from the call's settings and a checked copy of its options. If it has to wait, the
 * call's end cuts that short, and a file that is opened too late is closed.
 * @throws StatusError, or the call's deadline if that ended before there was a request
 */
export async function makeCall<T>(
  config: ClientConfig,
  operation: OperationName,
  given: { readonly options: CallOptions | undefined; readonly table: OptionTable<CallOptions> },
  prepare: (settings: CallSettings, own: CallOptions) => PreparedRequest<T> | Promise<PreparedRequest<T>>,
): Promise<Outcome<T>> {
  const deadline = new Deadline(config.calls);
  let request: PreparedRequest<T> | undefined;
  let result: Outcome<T> | StatusError;
  try {
    const { options, table } = given;
    const policy = (options as { readonly [attemptPolicy]?: Lane } | undefined)?.[attemptPolicy];
    // A run has checked the options of its calls.
    const isChecked = options !== undefined && policy?.options === options;
    const own = isChecked ? options : ownProperties(options, "options", table);
    const settings = callSettings(config, own, operation);
    deadline.limit(timesOf(operation, settings), settings.signal);
    const prepared = prepare(settings, own);
    const whole = prepared instanceof Promise ? prepared : ownValue(prepared, "whole");
    if (whole) {
      request = await deadline
        .untilEnded(whole, (late) => late.form?.part.file.close())
        .catch((error: unknown) => {
          // A call that ended meanwhile fails in its first attempt, which tells what was not sent.
          if (error !== deadline || prepared instanceof Promise) throw error;
          return prepared;
        });
      deadline.limit(timesOf(operation, settings, request), settings.signal);
    } else request = prepared as PreparedRequest<T>;
    const idempotent = settings.idempotent ?? request.idempotent;
    const call: RunningCall<T> = {
      settings,
      request,
      idempotent,
      deadline,
      attempts: [],
      ran: nothingSent,
      keys: [],
      freshSocket: !isIdempotentKind[kindOf(request.operation, idempotent)],
      retriedFree: false,
    };
    settings.policy?.begun?.(deadline);
    result = await (isTraced("call")
      ? publishRequest(request, targetOf, () => runAttempts(call))
      : runAttempts(call));
  } finally {
    if (request?.form) await deadline.untilEnded(request.form.part.file.close()).catch(() => {});
    deadline.dispose();
  }
  if (result instanceof Error) throw result;
  return result;
}

// Returns the error of a failed call instead of throwing it, because each throw costs V8 microseconds.
async function runAttempts<T>(call: RunningCall<T>): Promise<Outcome<T> | StatusError> {
  const { attempts, deadline, settings } = call;
  const { client, policy, onAttempt } = settings;
  const { budget } = client;
  try {
    for (;;) {
      const started = performance.now();
      const number = attempts.length + 1;
      const result = await (isTraced("attempt")
        ? publish(
            "attempt",
            { ...targetOf(call.request), number, scheme: call.request.url.protocol.slice(0, -1) },
            () => attempt(call),
            (ended) => attemptRecord(ended, number, performance.now() - started),
          )
        : attempt(call));
      const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
      if (!(result instanceof Failure)) {
        budget.left = Math.min(budgetRule.full, budget.left + budgetRule.successGain);
        // The call has succeeded: an error in the callback or the log does not fail it.
        if (onAttempt || client.log) {
          if (!hiding) await deadline.untilEnded(loadHiding()).catch(() => {});
          valueOr(() => report(call, attemptRecord(result, number, durationMs), result));
        }
        return outcomeOf(result, attempts, durationMs);
      }
      call.ran = worse(call.ran, result);
      if (result.requested === false) return callError(call, result, "refused");
      const failed = attemptRecord(result, number, durationMs);
      attempts.push(failed);
      const { reusedSocket = false, httpStatus } = result;
      // Retries in a run cost no budget, nor does a call's first retry because the server had closed a reused connection.
      const free = policy !== undefined || (reusedSocket && !call.retriedFree);
      const state = {
        operation: call.request.operation,
        idempotent: call.idempotent,
        retries: attempts.length - 1,
        maxRetries: settings.maxRetries,
        timeLeftMs: deadline.ended ? 0 : deadline.leftMs,
        budget: free ? budgetRule.full : budget.left,
        replayable: call.request.form?.part.file.replayable ?? true,
        freshKey:
          typeof client.apiKey === "function" &&
          attempts.slice(0, -1).every((earlier) => memberOf(earlier, "httpStatus") !== 401),
        random: Math.random(),
      };
      const { waitMs, notRetried } = policy?.decide(result, state) ?? decideRetry(result, state);
      report(call, failed, result, waitMs);
      if (waitMs === undefined) return callError(call, result, notRetried);
      if (free) call.retriedFree = true;
      else budget.left -= budgetRule.retryCost;
      // HTTP 421 (Misdirected Request): the server on this connection does not serve the address, but another one may.
      if (reusedSocket || httpStatus === 421) call.freshSocket = true;
      await (policy?.wait(waitMs, deadline) ?? deadline.wait(waitMs));
      if (deadline.ended === "deadline") return callError(call, result, "deadline-too-close");
    }
  } catch (error) {
    return callError(call, unexpectedFailure(error, redactorFor(call)), "not-transient");
  }
}

// Apart from the call, of which an outcome keeps nothing in memory. Most callers never read the attempts.
function outcomeOf<T>(success: Received<T>, failed: readonly Attempt[], durationMs: number): Outcome<T> {
  const { data, response } = success;
  const attempts = () => [...failed, attemptRecord(success, failed.length + 1, durationMs)];
  return { data, response, attempts };
}

function report<T>(
  call: RunningCall<T>,
  attempt: Attempt,
  result: Received<T> | Failure,
  waitMs?: number,
): void {
  const { settings, request } = call;
  const { onAttempt } = settings;
  const { log } = settings.client;
  if (onAttempt === undefined && !log) return;
  const event = { ...attempt, ...targetOf(request), ...(waitMs !== undefined && { waitMs }) };
  withHeaders(event, () => attempt.headers);
  notify(onAttempt, event);
  if (log) log(event, { request, result, redact: redactorFor(call) });
}

/** Makes one attempt: gets the API key, sends the request and reads the response. Never rejects. */
async function attempt<T>(run: RunningCall<T>): Promise<Received<T> | Failure> {
  const { settings, request, deadline, keys } = run;
  const { client } = settings;
  const { transport } = client;
  let exchange: Exchange | undefined;
  try {
    if (deadline.ended) throw deadline;
    const found =
      typeof client.apiKey === "string"
        ? client.apiKey
        : await deadline.untilEnded(currentKey(client.apiKey, run));
    if (found instanceof Failure) return found;
    if (!keys.includes(found)) keys.push(found);
    if (request.form) await deadline.untilEnded(request.form.part.file.check());
    const loading = transport.ready?.(request.url);
    if (loading) await deadline.untilEnded(loading);
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": client.userAgent,
      ...settings.headers,
      authorization: `Bearer ${found}`,
    };
    if (request.contentType !== undefined) headers["content-type"] = request.contentType;
    if (request.headers) Object.assign(headers, request.headers);
    exchange = transport.send({
      method: request.method,
      url: request.url,
      headers,
      body: request.body,
      form: request.form,
      maxResponseBytes: request.maxResponseBytes,
      freshSocket: run.freshSocket,
      connectTimeoutMs: client.connectTimeoutMs,
      lifetime: deadline,
    });
    const response = await exchange.whole;
    const data = request.read(response);
    if (data !== noValue && !(data instanceof Failure)) {
      const { secrets = [] } = transport;
      return { data, response, secrets: [...keys, ...secrets] };
    }
    return await failureOf(run, exchange, undefined, data as Failure | typeof noValue);
  } catch (cause) {
    return await failureOf(run, exchange, cause);
  } finally {
    deadline.attemptOver();
  }
}

/** The failure of an attempt. @param unusable What is wrong with a whole response's value; `noValue` if it has none */
async function failureOf<T>(
  run: RunningCall<T>,
  exchange: Exchange | undefined,
  cause: unknown,
  unusable?: Failure | typeof noValue,
): Promise<Failure> {
  const { deadline, request } = run;
  // What is left to do has the call's time, not the attempt's.
  deadline.attemptOver();
  let failureIn: typeof explained = unexplained;
  const load = async (): Promise<void> => {
    await loadHiding();
    if (unusable) ({ failureIn } = await import("./errorResponse.js"));
  };
  if (unusable || !hiding) await deadline.untilEnded(load()).catch(() => {});
  const { ended, timeoutMs, signal } = deadline;
  const response = exchange?.response;
  const redact = redactorFor(run);
  let failure: Failure;
  if (unusable && response && !ended) failure = failureIn(response, redact, unusable, request.operation);
  else if (ended) failure = endedFailure(ended, timeoutMs, exchange, memberOf(signal, "reason"));
  else if (isInstance(cause, SourceError)) failure = unsent(toldBySource(cause));
  else if (isTransportFailure(cause)) failure = networkFailure(cause, redact);
  else failure = unexpectedFailure(cause, redact, exchange);
  // A response that began tells these, even if it was not read whole.
  if (response) Object.assign(failure, toldBy(response, redact));
  return mocked(failure) ?? failure;
}

/** Redacts what no text of a call shows: every API key that it used, and the credentials of its proxy. */
function redactorFor<T>({ settings, keys }: RunningCall<T>): Redact {
  return redactorIfLoaded([...keys, ...(settings.client.transport.secrets ?? [])]);
}

/** Calls the caller's apiKey function for the next attempt; a Failure if it throws or returns an invalid key. */
async function currentKey<T>(
  apiKey: Exclude<ApiKey, string>,
  run: RunningCall<T>,
): Promise<string | Failure> {
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    const why = redactorFor(run)(wordsOf(cause));
    return unsent({ code: "UNAUTHENTICATED", message: `The apiKey function failed: ${why}`, cause });
  }
  const problem = unseenIn(key) ?? keyProblem(key);
  if (problem === undefined) return key as string;
  return unsent({ code: "INVALID_ARGUMENT", message: `What the apiKey function returned ${problem}` });
}

function targetOf<T>({ operation, method, url }: PreparedRequest<T>): Target {
  return { operation, method, path: url.pathname, host: url.host };
}

/** The public record of an attempt, for callbacks, traces and errors. */
function attemptRecord(
  result: Omit<Received<unknown>, "data"> | Failure,
  number: number,
  durationMs: number,
): Attempt {
  const { code, cause, httpStatus, requestId, headers } =
    result instanceof Failure
      ? result
      : { code: undefined, cause: undefined, ...toldBy(result.response, redactorIfLoaded(result.secrets)) };
  const told = { code, httpStatus, requestId, cause };
  const known = Object.entries(told).filter(([, value]) => value !== undefined);
  return withHeaders({ number, durationMs, ...Object.fromEntries(known) }, headers);
}

/** Makes the error that a failed call rejects with. */
function callError<T>(
  { request, attempts, keys, ran }: RunningCall<T>,
  failure: Failure,
  notRetried: NotRetried,
): StatusError {
  // The last attempt's hint does not apply if an earlier attempt, unlike the last one, may have run the operation.
  const hint = (failure.httpStatus === 401 && keyAdvice(keys)) || failure.hint;
  const advice = (ran.executed === failure.executed && hint) || undefined;
  const { message, notRetried: why = notRetried } = failure;
  const { executed, executedBecause } = ran;
  const more = { executed, executedBecause, notRetried: why, attempts, hint: undefined, advice };
  return new StatusError(message, Object.assign(new Failure(failure), targetOf(request), more));
}

/** The deadline and attempt timeout of a call: those of its options, else of its request, else of the operation. */
export function timesOf<T>(
  operation: OperationName,
  settings: CallSettings,
  request?: PreparedRequest<T>,
): { timeoutMs: number; attemptTimeoutMs: number } {
  const isRaw = operation === "request";
  // Own members only: a missing one would be read from a polluted Object.prototype.
  const ofRequest = request && ownValue(request, "timeoutMs");
  const ofOperation = isRaw ? 30_000 : operations[operation].timeoutMs;
  const { timeoutMs = ofRequest ?? ofOperation, maxRetries, attemptTimeoutMs } = settings;
  const idempotent =
    settings.idempotent ?? (request ? ownValue(request, "idempotent") : isRaw ? false : undefined);
  const retried = isIdempotentKind[kindOf(operation, idempotent)] && maxRetries > 0;
  // The first attempt gets half of the time, which leaves the other half for a retry.
  return { timeoutMs, attemptTimeoutMs: attemptTimeoutMs ?? (retried ? timeoutMs / 2 : timeoutMs) };
}

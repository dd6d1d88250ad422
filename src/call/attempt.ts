import { attemptTracer, keyAdvice, mocked, unseenIn } from "#platform";
import type { Attempt, NotRetried, StatusErrorDetails, Target } from "../errors/codes.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import { SourceError } from "../files/fileSource.js";
import { keyProblem } from "../options/arguments.js";
import type { ApiKey } from "../options/clientOptions.js";
import { redactorOf, redactValues } from "../redact/redact.js";
import { type Exchange, isForm, isTransportFailure, type TransportRequest } from "../transport/transport.js";
import { isInstance, memberOf } from "../values.js";
import { requestIdOf, toldBy } from "./answer.js";
import {
  endedFailure,
  Failure,
  networkFailure,
  sourceFailure,
  unexpectedFailure,
  unmatched,
} from "./failure.js";
import { unseen } from "./settings.js";
import type { Answered, PreparedRequest, RunningCall } from "./types.js";

/** One request and its answer, shown to those who listen to attempts. Never rejects. */
export function send<T>(run: RunningCall<T>, number: number): Promise<Answered<T> | Failure> {
  return (
    attemptTracer()?.(
      { ...targetOf(run.request), number },
      () => attempt(run),
      (result, durationMs) =>
        result instanceof Failure
          ? failureRecord(result, number, durationMs)
          : successRecord(result, number, durationMs),
    ) ?? attempt(run)
  );
}

// Asks for the key, sends, reads.
async function attempt<T>(run: RunningCall<T>): Promise<Answered<T> | Failure> {
  const { client, request, deadline } = run;
  const { transport } = client;
  let exchange: Exchange | undefined;
  try {
    if (!deadline.ended) {
      const found =
        typeof client.apiKey === "string" ? client.apiKey : await deadline.during(currentKey(client.apiKey));
      if (found instanceof Failure) return found;
      run.key = found ?? "";
      if (!run.keys.includes(run.key)) run.keys.push(run.key);
      if (isForm(request.body)) await deadline.during(request.body.part.file.check());
      const loading = transport.ready?.(request.url);
      if (loading) await deadline.during(loading);
    }
    if (deadline.ended) return failureOf(run, undefined, undefined);
    exchange = transport.send(transportRequest(run));
    deadline.running = exchange;
    const answer = await exchange.response;
    const secrets = secretsOf(run);
    const data = request.read(answer, secrets);
    return data instanceof Failure ? mockOr(data) : { data, answer, secrets };
  } catch (cause) {
    const failure = failureOf(run, exchange, cause);
    const headers = exchange?.answer?.headers;
    // Of a response that began, and was not read whole.
    if (headers) Object.assign(failure.details, toldBy(headers, redactorOf(secretsOf(run))));
    return failure;
  } finally {
    deadline.attemptOver();
  }
}

function transportRequest<T>(run: RunningCall<T>): TransportRequest {
  const { client, request, deadline, timeoutMs, freshSocket } = run;
  return {
    method: request.method,
    url: request.url,
    headers: requestHeaders(run),
    body: request.body,
    maxResponseBytes: request.maxResponseBytes,
    freshSocket,
    connectTimeoutMs: client.connectTimeoutMs,
    timeoutMs,
    lifetime: deadline,
  };
}

// nock 15 makes a response of a request that it has none for.
function mockOr(failure: Failure): Failure {
  const { body, message } = failure.details;
  return mocked(body, message, unmatched) ?? failure;
}

// What became of an attempt that brought no whole response.
function failureOf<T>(run: RunningCall<T>, exchange: Exchange | undefined, cause: unknown): Failure {
  const { deadline, settings, timeoutMs } = run;
  const { ended } = deadline;
  if (ended) return endedFailure(ended, timeoutMs, exchange, memberOf(settings.signal, "reason"));
  if (isInstance(cause, SourceError)) return sourceFailure(cause);
  return isTransportFailure(cause)
    ? networkFailure(cause, secretsOf(run))
    : unexpectedFailure(cause, secretsOf(run), exchange);
}

/** What the last attempt may not show: every key of the call, and the credentials of a proxy that it went through. */
export function secretsOf<T>({ client, keys }: RunningCall<T>): readonly string[] {
  return [...keys, ...(client.transport.secrets ?? [])];
}

function requestHeaders<T>({ client, settings, request, key }: RunningCall<T>): Record<string, string> {
  const { contentType } = request;
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": client.userAgent,
    ...settings.headers,
    authorization: `Bearer ${key}`,
  };
  if (contentType !== undefined) headers["content-type"] = contentType;
  return headers;
}

/** The key that a function gives for the next attempt; a Failure when it gives none that can be sent. */
async function currentKey(apiKey: Exclude<ApiKey, string>): Promise<string | Failure> {
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    return refused("UNAUTHENTICATED", "The apiKey function failed, so nothing was sent.", cause);
  }
  const problem = unseenIn(key, unseen) ?? keyProblem(key);
  if (problem === undefined) return key as string;
  return refused("INVALID_ARGUMENT", `What the apiKey function returned ${problem}`);
}

function refused(code: "UNAUTHENTICATED" | "INVALID_ARGUMENT", message: string, cause?: unknown): Failure {
  return new Failure({ code, message, cause, executed: "no", requested: false });
}

export function targetOf<T>({ operation, method, url }: PreparedRequest<T>): Target {
  return { operation, method, path: url.pathname, host: url.host };
}

/** An attempt that was answered as it should be. */
export function successRecord(
  { answer, secrets }: Omit<Answered<unknown>, "data">,
  number: number,
  durationMs: number,
): Attempt {
  const { status: httpStatus, headers } = answer;
  const requestId = requestIdOf(headers);
  const record = { number, durationMs, httpStatus, ...(requestId !== undefined && { requestId }) };
  return withHeaders(record, () => redactValues(redactorOf(secrets), headers) as Attempt["headers"]);
}

/** An attempt that failed. */
export function failureRecord({ details }: Failure, number: number, durationMs: number): Attempt {
  const { code, httpStatus, requestId, cause, headers } = details;
  const record = {
    number,
    durationMs,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(requestId !== undefined && { requestId }),
    ...(cause !== undefined && { cause }),
  };
  return withHeaders(record, headers);
}

/** The one error of a call, made where the call ends. */
export function callError(
  target: Target,
  { details }: Failure,
  { attempts, key, ran }: Pick<RunningCall<unknown>, "attempts" | "key" | "ran">,
  notRetried: NotRetried,
): StatusError {
  // Nothing is inherited: the hint is written from what is there.
  const whole: StatusErrorDetails = Object.assign(Object.create(null), details, ran, target, {
    notRetried: details.notRetried ?? notRetried,
    attempts,
  });
  // What the last attempt advises does not fit when an earlier one may have run.
  const hint = (details.httpStatus === 401 && keyAdvice(key)) || details.hint;
  const advice = ran.executed === details.executed ? hint : undefined;
  return new StatusError(details.message, { ...whole, hint: undefined, advice: advice || undefined });
}

import { attemptTracer, keyAdvice, mocked, unseenIn } from "#platform";
import type { Attempt, NotRetried, Target } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { StatusError, withHeaders } from "../errors/statusError.js";
import { SourceError } from "../files/fileSource.js";
import { keyProblem } from "../options/arguments.js";
import type { ApiKey } from "../options/types.js";
import { redactorOf, redactValues } from "../redact/redact.js";
import type { Exchange } from "../transport/exchange.js";
import { isForm, isTransportFailure, type TransportRequest } from "../transport/transport.js";
import { isInstance, memberOf } from "../values.js";
import { endedFailure, networkFailure, sourceFailure, unexpectedFailure, unmatched } from "./noResponse.js";
import { requestIdOf, toldBy } from "./response.js";
import { unseen } from "./settings.js";
import type { Answered, PreparedRequest, RunningCall } from "./types.js";

/** Makes one attempt of a call, and traces it if anyone subscribes to attempts. Never rejects: a failure is a value. */
export function send<T>(run: RunningCall<T>, number: number): Promise<Answered<T> | Failure> {
  return (
    attemptTracer()?.(
      { ...targetOf(run.request), number },
      () => attempt(run),
      (result, durationMs) => attemptRecord(result, number, durationMs),
      run.request.url,
    ) ?? attempt(run)
  );
}

// Gets the API key, sends the request and reads the response.
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
    const response = await exchange.response;
    const secrets = secretsOf(run);
    const data = request.read(response, secrets);
    return data instanceof Failure ? mockOr(data) : { data, response, secrets };
  } catch (cause) {
    const failure = failureOf(run, exchange, cause);
    const headers = exchange?.answer?.headers;
    // The response began but was not read whole: its request id and headers are known.
    if (headers) Object.assign(failure, toldBy(headers, redactorOf(secretsOf(run))));
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

// nock 15 responds with an error of its own to a request that no mock matches: that is no response of the service.
function mockOr(failure: Failure): Failure {
  return mocked(failure.body, failure.message, unmatched) ?? failure;
}

// The failure of an attempt that got no whole response.
function failureOf<T>(run: RunningCall<T>, exchange: Exchange | undefined, cause: unknown): Failure {
  const { deadline, settings, timeoutMs } = run;
  const { ended } = deadline;
  if (ended) return endedFailure(ended, timeoutMs, exchange, memberOf(settings.signal, "reason"));
  if (isInstance(cause, SourceError)) return sourceFailure(cause);
  return isTransportFailure(cause)
    ? networkFailure(cause, secretsOf(run))
    : unexpectedFailure(cause, secretsOf(run), exchange);
}

/** The secrets to redact from what a call shows: every API key that it used, and the credentials of its proxy. */
export function secretsOf<T>({ client, keys }: RunningCall<T>): readonly string[] {
  return [...keys, ...(client.transport.secrets ?? [])];
}

function requestHeaders<T>({ client, settings, request, key }: RunningCall<T>): Record<string, string> {
  const { contentType, headers: own } = request;
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": client.userAgent,
    ...settings.headers,
    authorization: `Bearer ${key}`,
  };
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (own) Object.assign(headers, own);
  return headers;
}

/** Calls the caller's apiKey function for the next attempt; a Failure if it throws or returns an invalid key. */
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

/** The public record of an attempt, for callbacks, traces and errors. */
export function attemptRecord(
  result: Omit<Answered<unknown>, "data"> | Failure,
  number: number,
  durationMs: number,
): Attempt {
  if (!(result instanceof Failure)) {
    const { status: httpStatus, headers } = result.response;
    const requestId = requestIdOf(headers);
    const record = { number, durationMs, httpStatus, ...(requestId !== undefined && { requestId }) };
    return withHeaders(record, () => redactValues(redactorOf(result.secrets), headers) as Attempt["headers"]);
  }
  const { code, httpStatus, requestId, cause } = result;
  const record = {
    number,
    durationMs,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(requestId !== undefined && { requestId }),
    ...(cause !== undefined && { cause }),
  };
  return withHeaders(record, result.headers);
}

/** Makes the error that a failed call rejects with. */
export function callError<T>(
  { request, attempts, key, ran }: RunningCall<T>,
  failure: Failure,
  notRetried: NotRetried,
): StatusError {
  const { executed, executedBecause } = ran;
  // The last attempt's hint does not apply if an earlier attempt may have run the operation.
  const hint = (failure.httpStatus === 401 && keyAdvice(key)) || failure.hint;
  const advice = (executed === failure.executed && hint) || undefined;
  return new StatusError(failure.message, {
    ...failure,
    ...targetOf(request),
    executed,
    executedBecause,
    notRetried: failure.notRetried ?? notRetried,
    attempts,
    hint: undefined,
    advice,
  });
}

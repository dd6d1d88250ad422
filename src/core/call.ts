import type { OperationId } from "../generated/contract.js";
import { operations } from "../generated/contract.js";
import { readAnswer } from "./answer.js";
import { checkApiKey } from "./arguments.js";
import type { Outcome } from "./callPromise.js";
import { endedError, transportError } from "./failure.js";
import { Ended, Lifetime } from "./lifetime.js";
import type { OperationInput, Prepare, PreparedRequest } from "./openapi.js";
import type { ApiKey } from "./options.js";
import type { CallSettings } from "./settings.js";
import { type Attempt, isStatusError, refusal, StatusError } from "./status.js";
import { type Exchange, type Transport, TransportFailure } from "./transport/transport.js";

/** What every call of one client shares. */
export interface Connection {
  readonly prepare: Prepare;
  readonly transport: Transport;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
}

/** One call: an operation with its input. */
export interface Call<Id extends OperationId, T> {
  readonly operation: Id;
  readonly input: OperationInput<Id>;
  readonly maxResponseBytes: number;
  /** Makes the call's value of the answer's JSON object. */
  readonly read: (answer: object) => T;
}

/** Makes one call: asks for the key, sends, reads, all within one deadline. @throws StatusError */
export async function makeCall<Id extends OperationId, T>(
  connection: Connection,
  call: Call<Id, T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  const { operation } = call;
  const lifetime = new Lifetime(settings.timeoutMs, settings.signal);
  const started = performance.now();
  let key = "";
  let exchange: Exchange | undefined;
  try {
    const { apiKey } = connection;
    key = typeof apiKey === "string" ? apiKey : await lifetime.during(currentKey(apiKey));
    const prepared = prepare(connection, call);
    const url = finalUrl(prepared.url);
    if (lifetime.ended) throw new Ended();
    exchange = connection.transport.send({
      method: prepared.method,
      url,
      headers: headersOf(prepared, key, connection.userAgent, settings.headers),
      body: prepared.body,
      maxResponseBytes: call.maxResponseBytes,
      freshSocket: !operations[operation].retrySafe,
      connectTimeoutMs: connection.connectTimeoutMs,
    });
    lifetime.stop = exchange.abort.bind(exchange);
    const answer = await exchange.response;
    const data = call.read(readAnswer(operation, answer, key));
    const durationMs = performance.now() - started;
    return { data, answer, attempts: [{ number: 1, durationMs, httpStatus: answer.status }] };
  } catch (error) {
    throw withAttempt(
      statusError(error, call, settings, lifetime, exchange, key),
      started,
      exchange !== undefined,
    );
  } finally {
    lifetime.dispose();
  }
}

function prepare<Id extends OperationId, T>(connection: Connection, call: Call<Id, T>): PreparedRequest {
  try {
    return connection.prepare(call.operation, call.input);
  } catch (cause) {
    throw refusal("INVALID_ARGUMENT", `The body cannot be written as JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function statusError<Id extends OperationId, T>(
  error: unknown,
  { operation }: Call<Id, T>,
  { timeoutMs, signal }: CallSettings,
  { ended }: Lifetime,
  exchange: Exchange | undefined,
  key: string,
): StatusError {
  if (isStatusError(error)) return error;
  if (ended) return endedError(operation, ended, timeoutMs, exchange, signal?.reason);
  if (error instanceof TransportFailure) return transportError(operation, error, key);
  return new StatusError("The client failed.", {
    code: "INTERNAL",
    executed: exchange ? "unknown" : "no",
    codeSource: "client",
    operation,
    cause: error,
  });
}

async function currentKey(apiKey: Exclude<ApiKey, string>): Promise<string> {
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    throw refusal("UNAUTHENTICATED", "The apiKey function failed, so nothing was sent.", { cause });
  }
  return checkApiKey(key, "What the apiKey function returned");
}

let lastUrl: URL | undefined;

// Parsing must not change it: a URL that reads differently would be another operation.
function finalUrl(text: string): URL {
  if (lastUrl?.href === text) return lastUrl;
  const url = new URL(text);
  if (url.href !== text || url.search !== "" || url.hash !== "") {
    throw refusal("INVALID_ARGUMENT", "An id cannot stand in the operation's URL unchanged.");
  }
  lastUrl = url;
  return url;
}

function headersOf(
  prepared: PreparedRequest,
  key: string,
  userAgent: string,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": userAgent,
    ...headers,
    authorization: `Bearer ${key}`,
    "content-type": typeof prepared.body === "object" ? prepared.body.contentType : "application/json",
  };
}

function withAttempt(error: StatusError, started: number, sent: boolean): StatusError {
  if (!sent || error.attempts.length > 0) return error;
  const { code, httpStatus, cause } = error;
  const record: Attempt = {
    number: 1,
    durationMs: performance.now() - started,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(cause !== undefined && { cause }),
  };
  return Object.assign(error, { attempts: [record] });
}

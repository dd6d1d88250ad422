import type { OperationId } from "../generated/contract.js";
import { operations } from "../generated/contract.js";
import { readAnswer, requestIdOf } from "./answer.js";
import { checkApiKey } from "./arguments.js";
import { endedError, transportError } from "./failure.js";
import { Ended, Lifetime } from "./lifetime.js";
import type { Dispatch, OperationInput, PreparedRequest } from "./openapi.js";
import type { ApiKey, CallResponse } from "./options.js";
import type { CallSettings } from "./settings.js";
import { type Attempt, isStatusError, refusal, StatusError } from "./status.js";
import {
  type Exchange,
  type Transport,
  TransportFailure,
  type TransportResponse,
} from "./transport/transport.js";

/** What every call of one client shares. */
export interface Connection {
  readonly dispatch: Dispatch;
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
): Promise<CallResponse<T>> {
  const lifetime = new Lifetime(settings.timeoutMs, settings.signal);
  try {
    return await attempt(connection, call, settings, lifetime);
  } finally {
    lifetime.dispose();
  }
}

async function attempt<Id extends OperationId, T>(
  connection: Connection,
  call: Call<Id, T>,
  settings: CallSettings,
  lifetime: Lifetime,
): Promise<CallResponse<T>> {
  const { operation } = call;
  const started = performance.now();
  let exchange: Exchange | undefined;
  let redact = (text: string): string => text;
  try {
    const key = await lifetime.during(currentKey(connection.apiKey));
    redact = (text) => text.replaceAll(key, "[redacted]");
    const send = (prepared: PreparedRequest): Promise<TransportResponse> => {
      exchange = connection.transport.send({
        method: prepared.method,
        url: finalUrl(prepared.url),
        headers: headersOf(prepared, key, connection.userAgent, settings.headers),
        body: prepared.body,
        maxResponseBytes: call.maxResponseBytes,
        freshSocket: !operations[operation].retrySafe,
        connectTimeoutMs: connection.connectTimeoutMs,
      });
      return exchange.response;
    };
    const answer = await lifetime.during(connection.dispatch(operation, call.input, send), () =>
      exchange?.abort(),
    );
    const data = call.read(readAnswer(operation, answer, redact));
    const { status: httpStatus, headers } = answer;
    const requestId = requestIdOf(headers);
    const attempts: Attempt[] = [{ number: 1, durationMs: performance.now() - started, httpStatus }];
    return { data, httpStatus, headers, attempts, ...(requestId !== undefined && { requestId }) };
  } catch (error) {
    throw withAttempt(asStatusError(error), started, exchange !== undefined);
  }

  function asStatusError(error: unknown): StatusError {
    if (error instanceof Ended) {
      const reason = lifetime.ended ?? "aborted";
      return endedError(operation, reason, settings.timeoutMs, exchange, settings.signal?.reason);
    }
    if (error instanceof TransportFailure) return transportError(operation, error, redact);
    if (isStatusError(error)) return error;
    if (exchange === undefined) {
      return refusal("INVALID_ARGUMENT", `The body cannot be written as JSON: ${(error as Error).message}`, {
        operation,
      });
    }
    return new StatusError("The client failed.", {
      code: "INTERNAL",
      executed: "unknown",
      codeSource: "client",
      operation,
      cause: error,
    });
  }
}

async function currentKey(apiKey: ApiKey): Promise<string> {
  if (typeof apiKey === "string") return apiKey;
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    throw refusal("UNAUTHENTICATED", "The apiKey function failed, so nothing was sent.", { cause });
  }
  return checkApiKey(key, "What the apiKey function returned");
}

// Parsing must not change it: a URL that reads differently would be another operation.
function finalUrl(text: string): URL {
  const url = new URL(text);
  if (url.origin + url.pathname === text) return url;
  throw refusal("INVALID_ARGUMENT", "An id cannot stand in the operation's URL unchanged.");
}

function headersOf(
  prepared: PreparedRequest,
  key: string,
  userAgent: string,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const contentType = typeof prepared.body === "object" ? prepared.body.contentType : "application/json";
  return {
    accept: "application/json",
    "user-agent": userAgent,
    ...headers,
    authorization: `Bearer ${key}`,
    "content-type": contentType,
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

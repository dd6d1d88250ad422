import { invalid, isStatusError, refusal, StatusError } from "../errors/statusError.js";
import { SourceError } from "../files/sourceError.js";
import type { OperationId } from "../generated/contract.js";
import { checkApiKey } from "../options/arguments.js";
import type { ApiKey } from "../options/options.js";
import type { CallSettings } from "../options/settings.js";
import {
  type Exchange,
  type Transport,
  TransportFailure,
  type TransportResponse,
} from "../transport/transport.js";
import { readAnswer } from "./answer.js";
import { Ended, type Lifetime } from "./deadline.js";
import { endedError, sourceError, transportFailure } from "./failure.js";
import type { OperationInput, Prepare, PreparedRequest } from "./request.js";
import { AttemptFailure, isRepeatable } from "./retry.js";

/** What every call of one client shares. */
export interface Connection {
  readonly prepare: Prepare;
  readonly transport: Transport;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  readonly budget: RetryBudget;
}

/** What a client may still spend on repeats. */
export interface RetryBudget {
  left: number;
}

/** One call: an operation with its input. */
export interface Call<Id extends OperationId, T> {
  readonly operation: Id;
  readonly input: OperationInput<Id>;
  /** The most bytes of its answer. @default 1 MiB */
  readonly maxResponseBytes?: number;
  /** Makes the call's value of the answer's JSON object; its errors must not show the key. */
  readonly read: (value: object, answer: TransportResponse, key: string) => T;
}

/** One request and its answer: asks for the key, sends, reads. @throws AttemptFailure and nothing else */
export async function makeAttempt<Id extends OperationId, T>(
  connection: Connection,
  call: Call<Id, T>,
  settings: CallSettings,
  lifetime: Lifetime,
): Promise<{ data: T; answer: TransportResponse }> {
  const { operation } = call;
  const { apiKey } = connection;
  let key = "";
  let exchange: Exchange | undefined;
  try {
    if (lifetime.ended) throw new Ended();
    key = typeof apiKey === "string" ? apiKey : await lifetime.during(currentKey(apiKey));
    const prepared = prepare(connection, call);
    const url = finalUrl(prepared.url);
    if (typeof prepared.body === "object") await lifetime.during(prepared.body.part.file.check());
    exchange = connection.transport.send({
      method: prepared.method,
      url,
      headers: headersOf(prepared, key, connection.userAgent, settings.headers),
      body: prepared.body,
      maxResponseBytes: call.maxResponseBytes ?? 1024 * 1024,
      freshSocket: !isRepeatable(operation, settings.repeatable),
      connectTimeoutMs: connection.connectTimeoutMs,
      lifetime,
    });
    lifetime.running = exchange;
    const answer = await exchange.response;
    return { data: call.read(readAnswer(operation, answer, key), answer, key), answer };
  } catch (error) {
    throw failureOf(error, call, settings, lifetime, exchange, key);
  } finally {
    lifetime.attemptOver();
  }
}

function failureOf<Id extends OperationId, T>(
  error: unknown,
  { operation }: Call<Id, T>,
  { timeoutMs, signal }: CallSettings,
  { ended }: Lifetime,
  exchange: Exchange | undefined,
  key: string,
): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  const final = (failed: StatusError) => new AttemptFailure(failed, ["final"], exchange !== undefined);
  if (isStatusError(error)) return final(error);
  if (error instanceof SourceError) return final(sourceError(error, { operation, executed: "no" }));
  if (ended) return final(endedError(operation, ended, timeoutMs, exchange, signal?.reason));
  if (error instanceof TransportFailure) return transportFailure(operation, error, key);
  return unexpected(operation, error);
}

/** A fault of this client's own: it proves nothing of what the service did. */
export function unexpected(operation: OperationId, cause: unknown): AttemptFailure {
  const details = { code: "INTERNAL", executed: "unknown", codeSource: "client", operation, cause } as const;
  return new AttemptFailure(new StatusError("The client failed; please report this.", details), ["final"]);
}

function prepare<Id extends OperationId, T>(connection: Connection, call: Call<Id, T>): PreparedRequest {
  try {
    return connection.prepare(call.operation, call.input);
  } catch (cause) {
    const why = (cause as Error).message;
    throw invalid(`The body cannot be written as JSON: ${why}`, { cause });
  }
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
    throw invalid("An id cannot stand in the operation's URL unchanged.");
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

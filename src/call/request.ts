import { invalid } from "../errors/statusError.js";
import type { Multipart } from "../files/multipart.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { checkId } from "../options/arguments.js";
import { idRules } from "../options/contractChecks.js";
import type { RequestRules } from "../options/validate.js";
import { isRetrySafe } from "../policy/retry.js";
import { isForm } from "../transport/transport.js";
import type { CallSettings, CallSpec, PreparedRequest } from "./types.js";

/** Turns a call of an operation into a request; nothing is sent. @throws StatusError when that cannot be done. */
export function prepare<T>(
  settings: CallSettings,
  { operation, ids: given, encoded, body, read }: CallSpec<T>,
): PreparedRequest<T> {
  const { method, path, maxResponseBytes } = operations[operation];
  const ids: Record<string, string> = {};
  const target = given ? pathOf(operation, given, settings, ids) : path;
  const { contentType }: RequestRules = requests[operation];
  const form = contentType === "multipart/form-data" ? (body as Multipart) : undefined;
  return {
    operation,
    ids,
    method,
    url: exactUrl(settings.client.baseUrl + target + (encoded?.query ?? "")),
    headers: encoded?.headers,
    body: form ?? encoded?.json ?? (body === undefined ? undefined : writeJson(body)),
    contentType: form?.contentType ?? (body === undefined ? undefined : contentType),
    maxResponseBytes,
    read,
    content: body,
  };
}

/**
 * The path of an operation, with the account of the call and the ids in it.
 * @param placed Receives the account and each id under its name in the contract. @throws StatusError
 */
export function pathOf(
  operation: OperationId,
  ids: Readonly<Record<string, unknown>>,
  { accountId }: CallSettings,
  placed: Record<string, string> = {},
): string {
  return operations[operation].path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = name === "account_id" ? accountId : ids[name];
    placed[name] = checkId(id, camelCase(name), idRules(operation, name));
    // encodeURIComponent leaves !'()*, which RFC 3986 reserves.
    return encodeURIComponent(placed[name]).replace(/[!'()*]/g, (it) => `%2${"1789A"["!'()*".indexOf(it)]}`);
  });
}

/** Turns a name of the contract into that of the argument: "dataset_id" into "datasetId". */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

let lastUrl: URL | undefined;

/** Parses a URL. @throws StatusError if parsing would change it: the request could reach another operation */
export function exactUrl(text: string): URL {
  if (lastUrl?.href === text) return lastUrl;
  const url = new URL(text);
  if (url.href !== text || url.hash !== "") throw invalid("The path cannot stand in the URL unchanged.");
  lastUrl = url;
  return url;
}

/** Writes a body as JSON. @throws StatusError when that is not possible. */
export function writeJson(body: unknown, replacer?: (name: string, value: unknown) => unknown): string {
  try {
    return JSON.stringify("toJSON" in Array.prototype ? withoutPrototypes(body) : body, replacer);
  } catch (cause) {
    throw invalid(`The body cannot be written as JSON: ${(cause as Error).message}`, { cause });
  }
}

// Copies without prototypes: a `toJSON` that others put on Object.prototype or Array.prototype would change the body.
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(value.map(withoutPrototypes), null);
  const { toJSON } = value as { toJSON?: unknown };
  // A `toJSON` of the value or its class, such as a Date's, is used.
  if (toJSON !== (Object.prototype as { toJSON?: unknown }).toJSON) return value;
  const copy = Object.create(null);
  for (const [name, member] of Object.entries(value)) copy[name] = withoutPrototypes(member);
  return copy;
}

/** The deadline and attempt timeout of a call: those of the options, else the operation's defaults. */
export function timesOf<T>(
  request: PreparedRequest<T>,
  settings: CallSettings,
): { timeoutMs: number; attemptTimeoutMs: number } {
  const { idempotent, maxRetries, timeoutMs = defaultTimeoutMs(request) } = settings;
  const retried = isRetrySafe(request.operation, idempotent) && maxRetries > 0;
  // The first attempt gets half of the time, which leaves the other half for a retry.
  return { timeoutMs, attemptTimeoutMs: settings.attemptTimeoutMs ?? (retried ? timeoutMs / 2 : timeoutMs) };
}

// Adds the time that the file takes at the slowest rate to allow for; a file of unknown size counts as the largest.
function defaultTimeoutMs<T>({ operation, body }: PreparedRequest<T>): number {
  const { timeoutMs, bytesPerSecond } = operations[operation as OperationId];
  if (bytesPerSecond === undefined || !isForm(body)) return timeoutMs;
  const { file, maxFileBytes } = body.part;
  return timeoutMs + ((file.size ?? maxFileBytes) * 1000) / bytesPerSecond;
}

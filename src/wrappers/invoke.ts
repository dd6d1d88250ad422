// Turns a method's arguments into a request and the promise of a call.
import { hiding, loadHiding, publishRefusal } from "#platform";
import { endedFailure, redactorIfLoaded } from "../call/noResponse.js";
import { seenOf } from "../call/response.js";
import type { ClientConfig } from "../call/settings.js";
import type { CallSettings, CallSpec, Outcome, PreparedRequest } from "../call/types.js";
import type { OperationName } from "../errors/codes.js";
import { invalid, isStatusError, ofOperation, refusal, StatusError } from "../errors/statusError.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { checkId } from "../options/arguments.js";
import { idRules } from "../options/contractChecks.js";
import type { CallResponse } from "../options/types.js";
import { camelCase, type RequestRules } from "../options/validate.js";
import { Deadline } from "../transport/time.js";
import { memberOf } from "../values.js";

/**
 * Turns a call of an operation into a request; nothing is sent. A body or a reader that takes a while is added later.
 * @throws StatusError when an id or the body cannot be sent
 */
export function prepare<T>(
  settings: CallSettings,
  operation: OperationId,
  { ids, body, read }: Omit<CallSpec<T>, "read"> & { readonly read: CallSpec<T>["read"] | undefined },
): PreparedRequest<T> {
  const { method, path, maxResponseBytes } = operations[operation];
  const placed: Record<string, string> = {};
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = name === "account_id" ? settings.accountId : ids?.[name];
    placed[name] = checkId(id, camelCase(name), idRules?.get(operation + name));
    // encodeURIComponent does not encode !'()*, which RFC 3986 reserves.
    return encodeURIComponent(placed[name]).replace(/[!'()*]/g, (it) => `%2${"1789A"["!'()*".indexOf(it)]}`);
  });
  const { contentType }: RequestRules = requests[operation];
  return {
    operation,
    ids: placed,
    method,
    url: exactUrl(settings.client.baseUrl + target),
    headers: undefined,
    body: body && writeJson(body),
    form: undefined,
    contentType: body && contentType,
    maxResponseBytes,
    read: read as CallSpec<T>["read"],
    content: body,
  };
}

let lastUrl: URL | undefined;

/** Parses a URL. @throws StatusError if parsing would change it: the request could reach another operation */
export function exactUrl(text: string): URL {
  if (lastUrl?.href === text) return lastUrl;
  const url = new URL(text);
  if (url.href !== text || url.hash !== "")
    throw invalid("path", "The path cannot stand in the URL unchanged.");
  lastUrl = url;
  return url;
}

/** Writes a body as JSON. @throws StatusError when that is not possible. */
export function writeJson(body: unknown, replacer?: (name: string, value: unknown) => unknown): string {
  try {
    return JSON.stringify("toJSON" in Array.prototype ? withoutPrototypes(body) : body, replacer);
  } catch (cause) {
    throw invalid("body", `The body cannot be written as JSON: ${(cause as Error).message}`, { cause });
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

/**
 * Starts a call at once; everything that `run` throws, such as for invalid arguments, rejects the promise.
 * @param present Turns the outcome into what `withResponse()` resolves to
 */
export function startCall<D, O extends { readonly data: D } = Outcome<D>, R = CallResponse<D>>(
  operation: OperationName,
  client: Pick<ClientConfig, "secrets">,
  run: () => Promise<O>,
  present: (outcome: O) => R = responseOf as never,
): Promise<D> & { withResponse(): Promise<R> } {
  let outcome: Promise<O>;
  try {
    outcome = run();
  } catch (error) {
    outcome = Promise.reject(error);
  }
  let succeeded: O;
  const value = outcome.then(
    (found) => {
      succeeded = found;
      return found.data;
    },
    (error) => {
      const named = namedError(error, operation, client);
      publishRefusal(operation, named);
      throw named;
    },
  );
  // With `value.withResponse = ...` instead, a call on Node 24 costs a quarter more, mostly in the garbage collector.
  return Object.assign(value, {
    // Follows `value`, not `outcome`: a stack shows the caller only while each promise has one that follows.
    withResponse: async () => {
      await value;
      await loadHiding();
      return present(succeeded);
    },
  });
}

function responseOf<T>({ data, response, attempts }: Outcome<T>): CallResponse<T> {
  return { data, attempts: attempts(), ...seenOf(response) };
}

/** Waits for a module that is loaded on first use. @throws StatusError `UNAVAILABLE` when it cannot be loaded */
export function loaded<T>(part: Promise<T>): Promise<T> {
  return part.catch((cause: unknown) => {
    throw refusal("UNAVAILABLE", undefined, "A part of this package could not be loaded.", {
      hint: "Check the network, or reload the page.",
      cause,
    });
  });
}

function namedError(
  error: unknown,
  operation: OperationName,
  client: Pick<ClientConfig, "secrets">,
): StatusError {
  // A call that ended before there was a request.
  if (error instanceof Deadline) {
    const { ended = "aborted", timeoutMs, signal } = error;
    const failure = endedFailure(ended, timeoutMs, undefined, memberOf(signal, "reason"));
    return new StatusError(failure.message, Object.assign(failure, { operation }));
  }
  // The checks of arguments do not know their operation, so it is added to the error here.
  if (isStatusError(error)) return Object.hasOwn(error, "operation") ? error : ofOperation(error, operation);
  // Any other error comes from an argument that threw when it was read, such as in a getter.
  const redact = redactorIfLoaded(client.secrets);
  const said = String(memberOf(error, "message") ?? error);
  const text = redact(said);
  return invalid(undefined, `An argument could not be read: ${text}`, {
    operation,
    notRetried: "refused",
    hint: "See cause.",
    cause: text === said ? error : hiding?.redactCause(redact, error),
  });
}

import { invalid } from "../errors/statusError.js";
import type { FetchForm, Multipart } from "../files/multipart.js";
import type { Transport, TransportFailure, TransportOptions } from "../transport/exchange.js";
import { createFetchTransport } from "../transport/fetch.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = "web";

/** Creates a transport over the caller's fetch function, or over the platform's own. */
export function createTransport(
  options: TransportOptions,
  _given?: unknown,
  formOf?: (form: Multipart) => FetchForm,
): Transport {
  const option = (["agent", "dispatcher", "proxy"] as const).find((name) => options[name] !== undefined);
  if (option) throw invalid(option, `${option} is for Node: this runtime sends with fetch.`);
  if (options.fetch) return createFetchTransport(options.fetch, formOf);
  if (typeof globalThis.fetch !== "function") {
    throw invalid(
      "fetch",
      'This runtime has no fetch: pass one. Under Jest\'s jsdom set testEnvironment: "node".',
    );
  }
  return createFetchTransport((url: string, init: never) => globalThis.fetch(url, init).catch(explain));
}

// A browser does not tell a page why a request failed.
function explain(error: unknown): never {
  if (!(error instanceof TypeError) || error.cause !== undefined || !isBrowser()) throw error;
  throw new TypeError(
    `${error.message.replace(/\.$/, "")}. The browser does not say why: the network, or CORS, when the service does not allow this page's origin (see the console).`,
  );
}

/** Undefined: this platform cannot open files. */
export const disk: undefined = undefined;

/** Reads an environment variable, if this runtime has any; a variable that may not be read counts as unset. */
export function readVariable(name: string, _isNeeded: boolean): string | undefined {
  try {
    const { env } = globalThis.process;
    if (Object.hasOwn(env, name)) return env[name];
  } catch {}
  return undefined;
}

/** Finds no invisible character: the general check of a value rejects it, with a message that is less exact. */
export function unseenIn(): undefined {}

/** Warns the program's user of a setting that has no effect. */
export function warn(text: string): void {
  console.warn(text);
}

/** Always undefined: this platform has no permissions for environment variables. */
export function permissionFor(_variables: readonly string[]): undefined {}

/** Returns the message unchanged: the messages of `fetch` are already written for people. */
export function wordsFor(message: string, _error: unknown): string {
  return message;
}

/** Always undefined: here only a `fetch` function can mock the network. */
export function mocked(_failure: unknown): undefined {}

/** Returns the failure unchanged: `fetch` reports a lost network as a TypeError, like a mistake of a program. */
export function blamed(failure: TransportFailure): TransportFailure {
  return failure;
}

/** Always undefined: here no key comes from a file of variables, which could put quotes around it. */
export function keyAdvice(_key: string): undefined {}

/** Always undefined: `fetch` reports no error code that says why a connection failed. */
export function unconnected(): undefined {}

/** Always undefined: `fetch` reads what it receives, and says nothing of it. */
export function schemeAdvice(_failure: unknown): undefined {}

/** Always undefined: other `fetch` functions have no such limit. */
export function timedOutByFetch(_failure: unknown): undefined {}

/** Always undefined: without an error code, nothing proves that no connection was established. */
export function isBeforeConnection(): undefined {}

/** Always undefined: `fetch` does not say whether a response was valid HTTP. */
export function isUnreadable(_failure: unknown): undefined {}

/** Always undefined: this platform has no tracing channels, and nothing calls the functions that publish. */
export function isTraced(_what: "call" | "attempt"): undefined {}

export function publishCall(): void {}

export function publishRequest(): void {}

export function publishAttempt(): void {}

export function publishRefusal(_operation: unknown, _error: unknown): void {}

/** Always undefined: the console here shows a client's functions but nothing that they hold, such as the key. */
export function inspectedAs(): undefined {}

/** Whether this is a browser or a worker in one, where visitors could read the key. */
export function isBrowser(): boolean {
  const scope = globalThis as { document?: unknown; importScripts?: unknown };
  return typeof scope.document === "object" || typeof scope.importScripts === "function";
}

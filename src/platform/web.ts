import { invalid } from "../errors/statusError.js";
import type { FetchForm, Multipart } from "../files/multipart.js";
import type { ClientOptions } from "../options/types.js";
import type * as redacting from "../redact/redact.js";
import type { Transport, TransportFailure } from "../transport/exchange.js";
import { createFetchTransport } from "../transport/fetch.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = "web";

/** Creates a transport over the caller's fetch function, or over the platform's own. */
export function createTransport(
  options: ClientOptions,
  _names?: unknown,
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

/** Warns the program's user of a setting that has no effect. */
export function warn(text: string): void {
  console.warn(text);
}

/** What hides keys in texts, once it is loaded: few calls show a text. */
export let hiding: typeof redacting | undefined;

export async function loadHiding(): Promise<void> {
  hiding ??= await import("../redact/redact.js").catch(() => undefined);
}

/** Returns the failure unchanged: the messages of `fetch` are written for people, and tell no more. */
export function explained(failure: TransportFailure): TransportFailure {
  return failure;
}

// Node knows more: which mock there is, what is wrong with a key of a file of variables. Here each is undefined, and
// bundlers leave out what would follow.
export function mocked(_failure: unknown): undefined {}
export function keyAdvice(_keys: readonly string[]): undefined {}
export function unseenIn(_text: unknown, _hasBlanks?: boolean): undefined {}
export function permissionFor(_variables: readonly string[]): undefined {}
export function inspectedAs(_show: unknown): undefined {}

// This platform has no tracing channels: nothing is traced, and nothing calls the functions that publish.
export function isTraced(_what: "call" | "attempt"): undefined {}
export function publish(): void {}
export function publishRequest(): void {}
export function publishRefusal(_operation: unknown, _error: unknown): void {}

/** Whether this is a browser or a worker in one, where visitors could read the key. */
export function isBrowser(): boolean {
  const scope = globalThis as { document?: unknown; importScripts?: unknown };
  return typeof scope.document === "object" || typeof scope.importScripts === "function";
}

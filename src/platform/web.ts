import { invalid } from "../errors/statusError.js";
import type { FetchForm, Multipart } from "../files/multipart.js";
import type { Transport, TransportOptions } from "../transport/exchange.js";
import { createFetchTransport } from "../transport/fetch.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = "web";

/** The caller's fetch function, or the platform's own. */
export function createTransport(
  options: TransportOptions,
  _given?: unknown,
  formOf?: (form: Multipart) => FetchForm,
): Transport {
  const option = (["agent", "dispatcher", "proxy"] as const).find((name) => options[name] !== undefined);
  if (option) throw invalid(`${option} is for Node: this runtime sends with fetch.`);
  if (options.fetch) return createFetchTransport(options.fetch, formOf);
  if (typeof globalThis.fetch !== "function") {
    throw invalid('This runtime has no fetch: pass one. Under Jest\'s jsdom set testEnvironment: "node".');
  }
  return createFetchTransport((url: string, init: never) => globalThis.fetch(url, init).catch(explain));
}

// A browser tells no page why a request failed.
function explain(error: unknown): never {
  if (!(error instanceof TypeError) || error.cause !== undefined || !isBrowser()) throw error;
  throw new TypeError(
    `${error.message.replace(/\.$/, "")}. The browser does not say why: the network, or CORS, when the service does not allow this page's origin (see the console).`,
  );
}

/** There are no files here. */
export const disk: undefined = undefined;

/** What the environment has, if there is one; what may not be read counts as unset. */
export function readVariable(name: string, _isNeeded: boolean): string | undefined {
  try {
    const { env } = globalThis.process;
    if (Object.hasOwn(env, name)) return env[name];
  } catch {}
  return undefined;
}

/** What is refused is refused by its check, which names it less exactly. */
export function unseenIn(): undefined {}

/** The same. */
export function checkSeen(): void {}

/** Tells the program's user of a setting that does nothing. */
export function warn(text: string): void {
  console.warn(text);
}

/** Nobody has to allow it. */
export function permissionFor(_variables: readonly string[]): undefined {}

/** What the network reported: `fetch` has words for people. */
export function wordsFor(message: string, _error: unknown): string {
  return message;
}

/** There are no mocks of the network here but `fetch` functions. */
export function mocked(): undefined {}

/** There is no file of variables here that a key could come from. */
export function keyAdvice(_key: string): undefined {}

/** Nothing more is known: `fetch` tells no code. */
export function unconnected(): undefined {}

/** The same. */
export function isBeforeConnection(): undefined {}

/** Nobody listens: there are no tracing channels here. */
export function callTracer(): undefined {}

/** Nobody listens. */
export function requestTracer(): undefined {}

/** Nobody listens. */
export function attemptTracer(): undefined {}

/** Nobody listens. */
export function publishRefusal(_operation: unknown, _error: unknown): void {}

/** Its console shows a client's functions, and nothing that they hold. */
export function inspectedAs(): undefined {}

/** Whether visitors could read the key. */
export function isBrowser(): boolean {
  const scope = globalThis as { document?: unknown; importScripts?: unknown };
  return typeof scope.document === "object" || typeof scope.importScripts === "function";
}

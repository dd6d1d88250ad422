import { invalid } from "../errors/statusError.js";
import type { DiskFiles } from "../files/openFile.js";
import { createFetchTransport } from "../transport/fetch.js";
import type { Transport, TransportOptions } from "../transport/transport.js";

// What tells the runtimes apart.
const scope = globalThis as {
  readonly document?: unknown;
  readonly importScripts?: unknown;
  readonly Bun?: { readonly version: string };
  readonly Deno?: {
    readonly version: { readonly deno: string };
    readonly permissions?: { querySync?(asked: { name: "env"; variable: string }): { state: string } };
  };
};

/** The runtime's part of the User-Agent. */
export const runtime: string = runtimeName();

/** The platform's own `fetch`. */
export function createTransport({ agent, proxy }: TransportOptions): Transport {
  const option = agent !== undefined ? "agent" : proxy !== undefined && "proxy";
  if (option) throw invalid(`${option} is for Node: this runtime sends with fetch.`);
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

/**
 * How a file on disk is sent: Bun's `fetch` sends a stream with its length, Deno's does not; elsewhere there are no files.
 */
export const diskFiles: DiskFiles = runtime.startsWith("bun")
  ? "streamed"
  : runtime.startsWith("deno")
    ? "whole"
    : undefined;

/** What the environment has, if there is one. Deno asks its user for what is needed; what it refuses counts as unset. */
export function readVariable(name: string, isNeeded: boolean): string | undefined {
  try {
    const env = (isNeeded || !isRefused(name)) && globalThis.process?.env;
    return env && Object.hasOwn(env, name) ? env[name] : undefined;
  } catch {
    return undefined;
  }
}

/** How to allow that variables are read, as a sentence; empty when it is. */
export function permissionFor(variables: readonly string[]): string {
  const refused = variables.filter(isRefused).join(",");
  return refused && ` Deno reads it only when it is started with --allow-env=${refused}.`;
}

function isRefused(variable: string): boolean {
  const state = scope.Deno?.permissions?.querySync?.({ name: "env", variable }).state;
  return state !== undefined && state !== "granted";
}

/** What the network reported: `fetch` has words for people. */
export function wordsFor(message: string, _error: unknown): string {
  return message;
}

/** Runs a call; there are no tracing channels here. */
export function traced<T>(_target: unknown, run: () => Promise<T>, _describe?: unknown): Promise<T> {
  return run();
}

/** The same for an attempt. */
export const tracedAttempt: typeof traced = traced;

/** Nobody listens. */
export function watchesAttempts(): boolean {
  return false;
}

/** Nobody listens. */
export function detailsOf(_operation: unknown, _body: unknown, _data?: unknown): undefined {}

/** Nobody listens. */
export function publishRefusal(_operation: unknown, _error: unknown): void {}

/** Whether visitors could read the key. */
export function isBrowser(): boolean {
  return (
    runtime === "web" && (typeof scope.document === "object" || typeof scope.importScripts === "function")
  );
}

function runtimeName(): string {
  if (scope.Bun) return `bun/${scope.Bun.version}`;
  if (scope.Deno) return `deno/${scope.Deno.version.deno}`;
  return "web";
}

// Bun and Deno: they send with fetch, and have files and an environment.
import { openBlob, openPath } from "../files/diskFile.js";
import { type FetchForm, FormStream, type Multipart } from "../files/multipart.js";
import type { Disk } from "../files/openFile.js";
import type { Transport, TransportOptions } from "../transport/exchange.js";
import * as web from "./web.js";

export { checkSeen, unseenIn } from "../options/arguments.js";
export { isBeforeConnection, keyAdvice, mocked, unconnected } from "../transport/node/networkErrors.js";
export { inspectedAs } from "../values.js";
export * from "./web.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = runtimeName();

/** The caller's fetch function, or the platform's own. */
export function createTransport(options: TransportOptions, given: readonly string[]): Transport {
  const { fetch = (url: string, init: never) => globalThis.fetch(url, init) } = options;
  return web.createTransport({ ...options, fetch }, given, isStreamed ? streamed : undefined);
}

/** Never: a test may have put a document here. */
export function isBrowser(): boolean {
  return false;
}

// Bun makes a Blob of several parts without those that are on disk. Deno's `fetch` sends a stream without its length, so
// that a file is read whole before.
const isStreamed = runtime.startsWith("bun/");

const streamed = (form: Multipart): FetchForm => (form.size === undefined ? form : new FormStream(form));

/** Files, and Blobs of them. */
export const disk: Disk = { openPath, openBlob };

/** What the environment has. Deno asks its user for what is needed; what may not be read counts as unset. */
export function readVariable(name: string, isNeeded: boolean): string | undefined {
  return isNeeded || !isRefused(name) ? web.readVariable(name, isNeeded) : undefined;
}

/** How to allow that variables are read, as a sentence; empty when it is allowed. */
export function permissionFor(variables: readonly string[]): string {
  const refused = variables.filter(isRefused).join(",");
  return refused && ` Deno reads what it is started with: --allow-env=${refused}.`;
}

function isRefused(variable: string): boolean {
  type Query = (asked: { name: "env"; variable: string }) => { readonly state: string };
  const { Deno } = globalThis as { Deno?: { readonly permissions?: { readonly querySync?: Query } } };
  const state = Deno?.permissions?.querySync?.({ name: "env", variable }).state;
  return state !== undefined && state !== "granted";
}

function runtimeName(): string {
  const scope = globalThis as { Bun?: { version: string }; Deno?: { version: { deno: string } } };
  if (scope.Bun) return `bun/${scope.Bun.version}`;
  if (scope.Deno) return `deno/${scope.Deno.version.deno}`;
  return "web";
}

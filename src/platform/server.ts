// The platform of Bun and Deno, which send with `fetch` and have files and environment variables.
import { openBlob, openPath } from "../files/diskFile.js";
import { type FetchForm, FormStream, type Multipart } from "../files/multipart.js";
import type { Disk } from "../files/openFile.js";
import type { ClientOptions } from "../options/types.js";
import type { Transport } from "../transport/exchange.js";
import * as web from "./web.js";

export { unseenIn } from "../options/arguments.js";
export * as hiding from "../redact/redact.js";
export { explainedOfFetch as explained, keyAdvice, mocked } from "../transport/node/networkErrors.js";
export { inspectedAs } from "../values.js";
export * from "./web.js";

const { Bun, Deno } = globalThis as { Bun?: { version: string }; Deno?: { version: { deno: string } } };

/** The runtime's part of the User-Agent. */
export const runtime: string = Bun ? `bun/${Bun.version}` : Deno ? `deno/${Deno.version.deno}` : "web";

/** Creates a transport over the caller's fetch function, or over the platform's own. */
export function createTransport(options: ClientOptions): Transport {
  const { fetch = (url: string, init: RequestInit) => globalThis.fetch(url, withFreshClient(init)) } =
    options;
  return web.createTransport({ ...options, fetch }, undefined, isStreamed ? streamed : undefined);
}

// Deno repeats a request whose used connection was lost, also a POST: a client without idle connections has none.
function withFreshClient(init: RequestInit): RequestInit {
  const { Deno } = globalThis as { Deno?: { createHttpClient?(options: object): unknown } };
  if (init.keepalive !== false || !Deno?.createHttpClient) return init;
  fresh ??= Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  return Object.assign(init, { client: fresh });
}
let fresh: unknown;

/** Does nothing: what hides keys in texts is loaded. */
export async function loadHiding(): Promise<void> {}

/** Always false, even if a test has defined a global `document`. */
export function isBrowser(): boolean {
  return false;
}

// Bun omits the parts that are on disk when it makes a Blob of several parts, so on Bun a form is sent as a stream.
// Deno's `fetch` sends a stream without its length, so on Deno a file is read whole before it is sent.
const isStreamed = runtime.startsWith("bun/");

const streamed = (form: Multipart): FetchForm => (form.size === undefined ? form : new FormStream(form));

/** Opens files by their paths, and Blobs whose bytes are on disk. */
export const disk: Disk = { openPath, openBlob };

/**
 * Reads an environment variable. Deno asks its user for permission if the variable is needed; a variable that may not
 * be read counts as unset.
 */
export function readVariable(name: string, isNeeded: boolean): string | undefined {
  return isNeeded || !isRefused(name) ? web.readVariable(name, isNeeded) : undefined;
}

/** A sentence that says how to allow reading these variables; empty if reading them is allowed. */
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

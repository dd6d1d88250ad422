import type { DiskFiles } from "../files/openFile.js";

export { createNodeTransport as createTransport } from "../transport/node/agents.js";
export { wordsFor } from "../transport/node/words.js";
export { detailsOf, publishRefusal, traced, tracedAttempt, watchesAttempts } from "./tracing.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = `node/${process.versions.node}`;

/** How a file on disk is sent through `fetch`. */
export const diskFiles: DiskFiles = "streamed";

/** What the environment has. */
export function readVariable(name: string, _isNeeded: boolean): string | undefined {
  const { env } = process;
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** Nobody has to allow it. */
export function permissionFor(_variables: readonly string[]): string {
  return "";
}

/** Whether visitors could read the key. */
export function isBrowser(): boolean {
  return false;
}

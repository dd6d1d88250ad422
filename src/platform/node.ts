import { openPath } from "../files/diskFile.js";
import type { Disk } from "../files/openFile.js";

export { createNodeTransport as createTransport } from "../transport/node/agents.js";
export { adviceFor, wordsFor } from "../transport/node/networkErrors.js";
export { publishRefusal, traced, tracedAttempt, tracedCall, watchesAttempts } from "./tracing.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = `node/${process.versions.node}`;

/** Node's `fetch` sends a stream with its length. */
export const disk: Disk = { openPath: (path, name) => openPath(path, name, true) };

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

export { openPath } from "../files/diskFile.js";
export { createNodeTransport as createTransport } from "../transport/node/agents.js";
export { wordsFor } from "../transport/node/words.js";
export { publishRefusal, rerankDetails, traced, tracedAttempt, watchesAttempts } from "./tracing.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = `node/${process.versions.node}`;

/** Whether visitors could read the key. */
export function isBrowser(): boolean {
  return false;
}

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A Node of 22.20 or newer: this one, or that of `integrations/`; undefined where there is none. */
export function newerNode(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 20)) return process.execPath;
  const own = fileURLToPath(new URL("integrations/node_modules/node-24/bin/node", import.meta.url));
  return existsSync(own) ? own : undefined;
}

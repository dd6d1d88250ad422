// What this machine has of what is too large, or too new, for everybody.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const places: readonly string[] = ["/usr/bin/chromium", "/usr/bin/google-chrome"];

/** Debian's Chromium, or the one that CHROMIUM names. */
export const chromiumProgram: string | undefined =
  process.env.CHROMIUM ?? places.find((place) => existsSync(place));

/** Its arguments: no sandbox in a container, and no traffic of its own. */
export const chromiumArguments: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A Node of 22.20 or newer: this one, or that of a folder of checks; undefined where there is none. */
export function newerNode(folder: "integrations" | "proxies"): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 20)) return process.execPath;
  const own = fileURLToPath(new URL(`${folder}/node_modules/node-24/bin/node`, import.meta.url));
  return existsSync(own) ? own : undefined;
}

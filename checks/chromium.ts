import { existsSync } from "node:fs";

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

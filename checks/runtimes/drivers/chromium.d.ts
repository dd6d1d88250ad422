import type { CheckResult } from "./process.js";

/** A started Chromium. */
export interface Browser {
  version(): string;
  close(): Promise<void>;
}

export function launch(): Promise<Browser>;

/** The page's files as each bundler makes them. */
export const bundlers: Readonly<Record<string, (user: string) => Promise<Record<string, string>>>>;

/** Runs the checks in a page. */
export function checkInChromium(browser: Browser, pageUrl: string): Promise<CheckResult[]>;

import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./project.js";
import { until } from "./turns.js";

/** What goes wrong in a command, at its file calls in one folder. */
export interface CommandFaults {
  readonly folder: string;
  /** Kills the process before this call, counted from 1; with `isHalf` a write is first done to a half. */
  readonly killAt?: number;
  readonly isHalf?: boolean;
  /** The file to which the name and the path of each call are written. */
  readonly logTo?: string;
  /** Suspends the process before a call whose name and path contain a text, such as `rename`, for the n-th time. */
  readonly stopAt?: { readonly call: string; readonly time?: number };
  /** From the n-th write to a path that contains a text, the disk is full, until the process has run for so long. */
  readonly noRoom?: { readonly path: string; readonly after: number; readonly untilMs: number };
  /** How many times faster waits between tries pass. */
  readonly faster?: number;
  /** How many times faster the process' own clock runs. */
  readonly clockRate?: number;
  /** How far the process' clock is ahead. */
  readonly clockMs?: number;
}

/** The environment of a command with faults. */
export function envOf(faults: CommandFaults): Record<string, string> {
  const preload = path.join(root, "test/support/faultyFiles.cjs");
  return { NODE_OPTIONS: `--require=${preload}`, TUNERANK_FAULTS: JSON.stringify(faults) };
}

/** Resolves once a process is suspended. */
export function suspended(pid: number | undefined): Promise<void> {
  return until(() => /\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
}

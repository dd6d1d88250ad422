// Node, Bun and Deno: a process that prints its results.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { CheckResult, Place } from "./results.js";

const run = promisify(execFile);

/** A runtime that is a program, and the arguments it takes before a file. */
export interface Runtime {
  readonly program: string;
  readonly args?: readonly string[];
}

/** Runs the checks in a runtime that is a program. */
export async function checkInProcess({ program, args = [] }: Runtime, place: Place): Promise<CheckResult[]> {
  const { user, baseUrl, closedUrl, file = "" } = place;
  const all = [...args, path.join(user, "onServer.js"), baseUrl, closedUrl, file];
  const { stdout } = await run(program, all, { cwd: user, timeout: 120_000 });
  return JSON.parse(stdout.slice(stdout.indexOf("[[")));
}

/** The version a program tells. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ["--version"]);
  const [version] = /\d+[.-]\d+\S*/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${program} tells no version: ${stdout}`);
  return version;
}

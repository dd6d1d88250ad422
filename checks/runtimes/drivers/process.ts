// Node, Bun and Deno: a process that prints its results.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A check's name, and what is wrong, if anything is. */
export type CheckResult = readonly [name: string, error?: string];

/** What the checks of one runtime work with. */
export interface Place {
  /** A project that has the package installed, and the checks. */
  readonly user: string;
  readonly baseUrl: string;
  /** An address where nobody listens. */
  readonly closedUrl: string;
  /** A file to upload by its path, where the runtime has paths. */
  readonly file: string;
  /** The folder of the libraries that the checks of Node load. */
  readonly modules: string;
}

/** A runtime that is a program, the arguments it takes before a file, and how it is started. */
export interface Runtime {
  readonly program: string;
  readonly args?: readonly string[];
  /** A command that starts it. */
  readonly within?: readonly string[];
  /** Its whole environment; this process's when absent. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the checks in a runtime that is a program. */
export async function checkInProcess(runtime: Runtime, place: Place): Promise<CheckResult[]> {
  const { program, args = [], within = [], env } = runtime;
  const { user, baseUrl, closedUrl, file, modules } = place;
  const own = [path.join(user, "onServer.js"), baseUrl, closedUrl, file, modules];
  const [command = program, ...rest] = [...within, program, ...args, ...own];
  const { stdout } = await run(command, rest, { cwd: user, timeout: 120_000, ...(env && { env }) });
  return JSON.parse(stdout.slice(stdout.indexOf("[[")));
}

/** The version a program tells. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ["--version"]);
  const [version] = /\d+[.-]\d+\S*/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${program} tells no version: ${stdout}`);
  return version;
}

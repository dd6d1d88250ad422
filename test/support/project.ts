import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { seePrinted } from "./canary.js";
import { soon } from "./turns.js";

/** This project's folder. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** What a program said, and how it ended. */
export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** How long it may take. @default ten minutes, for what builds and installs */
  readonly withinMs?: number;
}

/** Starts a program. */
export function launch(
  command: string,
  args: readonly string[],
  { cwd = root, env }: Surroundings = {},
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a program to its end. */
export async function run(
  command: string,
  args: readonly string[],
  options: Surroundings = {},
): Promise<Outcome> {
  const child = launch(command, args, options);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("exit", resolve);
  });
  const said = Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const { withinMs = 600_000 } = options;
  const [exitCode, stdout, stderr] = await soon(said, `${command} ${args.join(" ")} ends`, withinMs).finally(
    () => child.kill("SIGKILL"),
  );
  seePrinted(`${stdout}\n${stderr}\n`);
  return { exitCode, stdout, stderr };
}

/** A new empty folder. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "tunerank-test-")));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const needless = new Set([".git", ".stryker-tmp", "node_modules", "dist", "test", "reports", "site"]);

function isNeeded(source: string): boolean {
  const [top = "", ...below] = path.relative(root, source).split(path.sep);
  if (below.includes("node_modules")) return false;
  // What the docs are made of.
  if (top === "bench") return /^(|[\w-]+\.[\w.]+)$/.test(below.join("/"));
  // The guides show its programs.
  if (top === "checks")
    return /^(|generators|generators\/callers(\/.*)?|first-hour|first-hour\/(?!work)[\w-]+(\/.*)?)$/.test(
      below.join("/"),
    );
  return !needless.has(top);
}

/** The same of all that Git keeps, or would: a test may follow CONTRIBUTING.md there, suite included. */
export async function copyRepository(folder: string): Promise<void> {
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
  const files = stdout.split("\0").filter((file) => file !== "" && existsSync(path.join(root, file)));
  await Promise.all(files.map((file) => cp(path.join(root, file), path.join(folder, file))));
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
}

/** A copy of the project over the same dependencies, so that a test may build or break it. */
export async function copyProject(folder: string): Promise<void> {
  await cp(root, folder, { recursive: true, filter: isNeeded });
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
}

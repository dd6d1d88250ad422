import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll } from "vitest";
import { commandLineBuild } from "../../scripts/build/commandLine.js";
import { canaryKey, seePrinted } from "./canary.js";
import { type Outcome, root, temporaryFolder } from "./project.js";
import { soon, until } from "./turns.js";

/** Where and with what the command runs. */
export interface Surroundings {
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  /** What runs in the command's place. */
  readonly program?: string;
  /** Leaves the standard input open, for the test to write to. */
  readonly openInput?: boolean;
}

// Bundled once: run from source, every start would compile everything again.
const folder: string = mkdtempSync(path.join(tmpdir(), "tunerank-cli-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
// What the package ships beside it.
symlinkSync(path.join(root, "contract"), path.join(folder, "contract"));
/** The command as one program: `node program ...`. */
export const program: string = await buildInto("main", {});

async function buildInto(name: string, options: BuildOptions): Promise<string> {
  const outfile = path.join(folder, `dist/cli/${name}.cjs`);
  await build({ ...commandLineBuild, absWorkingDir: root, outfile, ...options });
  return outfile;
}

/** Runs `tunerank` to its end. */
export async function tunerank(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  return outcomeOf(start(args, surroundings));
}

/** Starts `tunerank`. */
export function start(args: readonly string[], surroundings: Surroundings = {}): ChildProcess {
  return startIn([], args, surroundings);
}

/** Starts `tunerank` in another program, such as one that gives it a namespace of its own. */
export function startIn(
  before: readonly string[],
  args: readonly string[],
  surroundings: Surroundings = {},
): ChildProcess {
  const all = [...before, process.execPath, surroundings.program ?? program, ...args];
  return launch(all, surroundings);
}

/** Starts `tunerank` as a process that may have so many open files and sockets. */
export function startLimited(
  files: number,
  args: readonly string[],
  surroundings: Surroundings = {},
): ChildProcess {
  return startIn(["sh", "-c", `ulimit -n ${files}; exec "$0" "$@"`], args, surroundings);
}

/** Runs `tunerank` on a terminal, which shows stdout and stderr as one; the text comes with its control sequences. */
export async function onTerminal(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const line = [process.execPath, program, ...args].map((each) => `'${each}'`).join(" ");
  return outcomeOf(launch(["script", "--quiet", "--return", "--command", line, "/dev/null"], surroundings));
}

/** Starts `tunerank` with a stdout that takes nothing: `/dev/full`, as Linux has it. */
export function toFullDisk(args: readonly string[], surroundings: Surroundings = {}): ChildProcess {
  return startIn(["sh", "-c", 'exec "$0" "$@" > /dev/full'], args, surroundings);
}

/** What a started command said, once it has ended; killed if that takes longer than most tests may. */
export async function outcomeOf(child: ChildProcess, mostMs = 110_000): Promise<Outcome> {
  const ended = once(child, "exit");
  if (child.stdout === null || child.stderr === null) throw new Error("Nothing of it is heard.");
  const all = Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const kill = (): boolean => child.kill("SIGKILL");
  const [[exitCode], stdout, stderr] = await soon(all, "a started command ends", mostMs).finally(kill);
  seePrinted(`${stdout}\n${stderr}\n`);
  return { exitCode, stdout, stderr };
}

function launch(
  [command = "", ...args]: readonly string[],
  { baseUrl, env, input, openInput }: Surroundings,
): ChildProcess {
  const child = spawn(command, args, {
    cwd: root,
    env: {
      ...process.env,
      // Each decides about colours; the terminal alone is to.
      CI: undefined,
      NO_COLOR: undefined,
      FORCE_COLOR: undefined,
      TERM: "xterm-256color",
      TUNERANK_BASE_URL: baseUrl,
      TUNERANK_API_KEY: canaryKey,
      TUNERANK_ACCOUNT_ID: "acme",
      ...env,
    },
    stdio: [input === undefined && !openInput ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (!openInput) child.stdin?.end(input);
  return child;
}

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

/** Runs the command against a server, and gives the tests of a file a folder. */
export function useCommand(server: { readonly url: string }): {
  run(args: readonly string[], more?: Surroundings): Promise<Outcome>;
  /** The path of a file there. */
  at(name: string): string;
  /** Writes a file. @returns Its path */
  written(name: string, content: string | Uint8Array): Promise<string>;
} {
  let made: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    made = await temporaryFolder();
  });
  afterAll(() => made.remove());
  const at = (name: string): string => path.join(made.folder, name);
  return {
    run: (args, more) => tunerank(args, { baseUrl: server.url, ...more }),
    at,
    async written(name, content) {
      await writeFile(at(name), content);
      return at(name);
    },
  };
}

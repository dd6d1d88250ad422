import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type BuildOptions, build } from "esbuild";
import { commandLineBuild } from "../../scripts/build/commandLine.js";
import { canaryKey, seePrinted } from "./canary.js";
import { type Outcome, root } from "./project.js";
import { soon } from "./turns.js";

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
  const child = start(args, surroundings);
  return outcomeOf(child);
}

/** Three times what a run takes here and now, in seconds: enough for a request to be made, on a busy machine too. */
export async function secondsFor(run: () => Promise<unknown>): Promise<string> {
  const started = performance.now();
  await run();
  return ((3 * (performance.now() - started)) / 1000).toFixed(1);
}

/** Starts `tunerank`. */
export function start(args: readonly string[], surroundings: Surroundings = {}): ChildProcess {
  return launch(process.execPath, [surroundings.program ?? program, ...args], surroundings);
}

/** Starts `tunerank` in another program, such as one that gives it a namespace of its own. */
export function startIn(
  [command = "", ...before]: readonly string[],
  args: readonly string[],
  surroundings: Surroundings = {},
): ChildProcess {
  return launch(
    command,
    [...before, process.execPath, surroundings.program ?? program, ...args],
    surroundings,
  );
}

/** Starts `tunerank` as a process that may have so many open files and sockets. */
export function startLimited(
  files: number,
  args: readonly string[],
  surroundings: Surroundings = {},
): ChildProcess {
  const script = `ulimit -n ${files}; exec "$0" "$@"`;
  return launch("sh", ["-c", script, process.execPath, program, ...args], surroundings);
}

/** Runs `tunerank` on a terminal, which shows stdout and stderr as one; the text comes with its control sequences. */
export async function onTerminal(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const line = [process.execPath, program, ...args].map((each) => `'${each}'`).join(" ");
  return outcomeOf(launch("script", ["--quiet", "--return", "--command", line, "/dev/null"], surroundings));
}

/** Starts `tunerank` with a stdout that takes nothing: `/dev/full`, as Linux has it. */
export function toFullDisk(args: readonly string[], surroundings: Surroundings = {}): ChildProcess {
  const script = 'exec "$0" "$@" > /dev/full';
  return launch("sh", ["-c", script, process.execPath, program, ...args], surroundings);
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
  command: string,
  args: readonly string[],
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

// The small .run file beside a checkpoint file: it says which kind of file that is, and which run writes it now.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, readSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { orUndefined, UsageError } from "../context.js";

/** The kinds of checkpoint files. */
export type CheckpointKind = "rerank output" | "rerank errors" | "upload checkpoint";

export interface LeaseState extends LeaseHolder {
  /** Random, so that no two leases have the same token. */
  readonly token: string;
  /** Increased every few seconds, as a sign of life. */
  counter: number;
  /** How long the lease has been held, in milliseconds, by the clock of its process. */
  heldMs: number;
}

export interface RunFileState {
  readonly format: 1;
  readonly kind: CheckpointKind;
  /** The shard whose ids the file has, such as `1/8`; undefined: all ids. */
  readonly shard?: string;
  readonly run: string;
  /** The .torn file has a copy of a row that was cut off. */
  torn?: true;
  /** A process that was suspended may still write to the file, so the file has to be copied first. */
  uncopied?: true;
  lease?: LeaseState;
}

export function filesBeside(file: string): Readonly<Record<"run" | "claim" | "rows" | "torn", string>> {
  return { run: `${file}.run`, claim: `${file}.run.next`, rows: `${file}.run.rows`, torn: `${file}.torn` };
}

const bytes = 1024;

/**
 * The text of a .run file. Its length never changes, so that it can be overwritten in place. Its numbers have a fixed
 * width, so that what is read during a write is JSON too.
 */
export function runFileText(state: RunFileState): string {
  const text = JSON.stringify(state).replace(
    /"(counter|heldMs)":(\d+)/g,
    (_, name: string, digits: string) => `"${name}":${digits.padStart(15)}`,
  );
  return `${text.padEnd(bytes - 1)}\n`;
}

/** Writes the whole state in one call. @throws Error with the code ENOSPC if only a part was written */
export function writeState(file: number, state: RunFileState): void {
  const content = Buffer.from(runFileText(state));
  const written = writeSync(file, content, 0, content.length, 0);
  if (written < content.length)
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
}

/** The text of a .run or claim file; undefined if there is no such file. */
export function readText(name: string): string | undefined {
  const read = (file: number): string => {
    if (!fstatSync(file).isFile()) return "a folder";
    const content = Buffer.alloc(4 * bytes);
    return content.toString("utf8", 0, readSync(file, content, 0, content.length, 0));
  };
  return orUndefined(() => withFile(name, "r", read), "ENOENT");
}

/** Opens a file, returns the result of `use`, and closes the file. */
export function withFile<T>(name: string, flags: string, use: (file: number) => T): T {
  const file = openSync(name, flags);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Parses the text of a .run file; undefined if it is missing or partly written.
 * @param option The option that names the checkpoint file beside it
 * @throws UsageError if another program, or a newer version, wrote it
 */
export function stateOf(text: string | undefined, option: string): RunFileState | undefined {
  if (text === undefined || /^\0*$/.test(text)) return undefined;
  const state = orUndefined<RunFileState>(() => JSON.parse(text));
  if (!text.startsWith('{"format":') || (state !== undefined && !isState(state)))
    throw new UsageError(
      `The file beside ${option} whose name ends in .run is no file of this command: move one of them.`,
    );
  if (state !== undefined && state.format !== 1)
    throw new UsageError(`${option} was written by a newer version of tunerank: use that.`);
  return state;
}

/** Parses the text of a .run file; undefined also if another program wrote it. */
export function parsed(text: string | undefined): RunFileState | undefined {
  return orUndefined(() => stateOf(text, ""));
}

export function tokenOf(text: string | undefined): string | undefined {
  return parsed(text)?.lease?.token;
}

export function randomText(): string {
  return randomBytes(16).toString("base64url");
}

function isState({ format, kind, shard = "", run, lease }: RunFileState): boolean {
  const texts = lease === undefined ? [] : [lease.token, lease.host];
  const numbers = lease === undefined ? [] : [lease.pid, lease.heldMs];
  const areTexts = [kind, shard, run, ...texts].every((each) => typeof each === "string");
  return areTexts && [format, ...numbers].every((each) => typeof each === "number");
}

// The rest of this file tells which process holds a lease, and whether that process is known to have ended.

/** Identifies a process, as far as the operating system allows. */
export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
  /** The machine's boot id, which is new at each start. */
  readonly boot: string | undefined;
  readonly pidNamespace: string | undefined;
  /** When the process began. Process ids are reused; together with this time, each is unique. */
  readonly began: string | undefined;
}

export function thisProcess(): LeaseHolder {
  return {
    host: hostname(),
    pid: process.pid,
    boot: read("/proc/sys/kernel/random/boot_id")?.trim(),
    pidNamespace: readLink("/proc/self/ns/pid"),
    began: statOf("self")?.began,
  };
}

/**
 * Whether a process is known to have ended. False for a process of another machine or container, about which nothing is
 * known.
 */
export function isGone({ boot, pidNamespace, pid, began }: LeaseHolder): boolean {
  const here = thisProcess();
  if (boot === undefined || pidNamespace === undefined || began === undefined) return false;
  if (boot !== here.boot || pidNamespace !== here.pidNamespace) return false;
  // /proc may belong to another PID namespace, in which the same numbers mean other processes.
  if (readLink("/proc/self") !== String(process.pid)) return false;
  const stat = statOf(pid);
  if (stat !== undefined) return stat.isDead || stat.began !== began;
  return !exists(pid);
}

// Reads /proc/PID/stat. The second field is a name in parentheses, which may contain anything. The third is the state:
// Z is a process that has ended, but that its parent has not waited for. The 22nd is the start time.
function statOf(pid: number | "self"): { readonly isDead: boolean; readonly began: string } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const began = fields?.[19];
  return began === undefined ? undefined : { isDead: /^[ZXx]$/.test(fields?.[0] ?? ""), began };
}

// Signal 0 finds a process even if /proc hides the processes of other users.
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function read(name: string): string | undefined {
  return orUndefined(() => readFileSync(name, "utf8"));
}

function readLink(name: string): string | undefined {
  return orUndefined(() => readlinkSync(name));
}

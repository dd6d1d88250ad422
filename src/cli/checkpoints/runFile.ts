// The small file beside a file that runs write: it says what the file is, and who writes it now.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, readSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { orUndefined, UsageError } from "../context.js";

/** What a file that runs write can be. */
export type CheckpointKind = "rerank output" | "rerank errors" | "upload checkpoint";

export interface LeaseState extends LeaseHolder {
  /** Random: no two are the same. */
  readonly token: string;
  /** One more every few seconds. */
  counter: number;
  /** How long it has been held, by the clock of the process that holds it. */
  heldMs: number;
}

export interface RunFileState {
  readonly format: 1;
  readonly kind: CheckpointKind;
  /** Of which shard the file is, such as `1/8`; without it, of all ids. */
  readonly shard?: string;
  readonly run: string;
  /** There is a copy of what was cut. */
  torn?: true;
  /** Somebody who slept may still write into the file: it has to be copied first. */
  uncopied?: true;
  lease?: LeaseState;
}

export function filesBeside(file: string): Readonly<Record<"run" | "claim" | "rows" | "torn", string>> {
  return { run: `${file}.run`, claim: `${file}.run.next`, rows: `${file}.run.rows`, torn: `${file}.torn` };
}

const bytes = 1024;

/** Always as long, so that it can be written over, and numbers as wide, so that what is read meanwhile is JSON too. */
export function runFileText(state: RunFileState): string {
  const text = JSON.stringify(state).replace(
    /"(counter|heldMs)":(\d+)/g,
    (_, name: string, digits: string) => `"${name}":${digits.padStart(15)}`,
  );
  return `${text.padEnd(bytes - 1)}\n`;
}

/** Writes all of it at once. */
export function writeState(file: number, state: RunFileState): void {
  const content = Buffer.from(runFileText(state));
  const written = writeSync(file, content, 0, content.length, 0);
  if (written < content.length)
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
}

/** What a file beside holds; undefined where there is none. */
export function readText(name: string): string | undefined {
  const read = (file: number): string => {
    if (!fstatSync(file).isFile()) return "a folder";
    const content = Buffer.alloc(4 * bytes);
    return content.toString("utf8", 0, readSync(file, content, 0, content.length, 0));
  };
  return orUndefined(() => withFile(name, "r", read), "ENOENT");
}

/** What `use` gives of an open file, which is closed then. */
export function withFile<T>(name: string, flags: string, use: (file: number) => T): T {
  const file = openSync(name, flags);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** Reads it; undefined where it is not written whole. @param option What the command line calls the file @throws UsageError when somebody else wrote it */
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

/** What is written whole, whoever wrote it. */
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

// Which process holds a lease, and whether it is known to be gone.

/** A process, as far as the system tells who it is. */
export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
  /** Which start of which machine. */
  readonly boot: string | undefined;
  readonly pidNamespace: string | undefined;
  /** When the process began. Numbers of processes are given again: with this, no two are the same. */
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

/** Whether a process is known to be gone. Of another machine or another container nothing is known. */
export function isGone({ boot, pidNamespace, pid, began }: LeaseHolder): boolean {
  const here = thisProcess();
  if (boot === undefined || pidNamespace === undefined || began === undefined) return false;
  if (boot !== here.boot || pidNamespace !== here.pidNamespace) return false;
  // /proc may be that of another namespace, where the numbers mean other processes.
  if (readLink("/proc/self") !== String(process.pid)) return false;
  const stat = statOf(pid);
  if (stat !== undefined) return stat.isDead || stat.began !== began;
  return !exists(pid);
}

// The third field is the state: a process that was killed and that nobody has asked about is a zombie. The 22nd is when it
// began. The second is a name in parentheses, which may hold anything.
function statOf(pid: number | "self"): { readonly isDead: boolean; readonly began: string } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const began = fields?.[19];
  return began === undefined ? undefined : { isDead: /^[ZXx]$/.test(fields?.[0] ?? ""), began };
}

// /proc may hide the processes of other users.
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

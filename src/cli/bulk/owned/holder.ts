// Which process holds a lease, and whether it is known to be gone.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, as far as the system tells who it is. */
export interface Holder {
  readonly host: string;
  readonly pid: number;
  /** Which start of which machine. */
  readonly boot: string | undefined;
  readonly pidNamespace: string | undefined;
  /** When the process began. Numbers of processes are given again: with this, no two are the same. */
  readonly began: string | undefined;
}

/** This process. */
export function thisProcess(): Holder {
  return {
    host: hostname(),
    pid: process.pid,
    boot: read("/proc/sys/kernel/random/boot_id")?.trim(),
    pidNamespace: readLink("/proc/self/ns/pid"),
    began: statOf("self")?.began,
  };
}

/** Whether a process is known to be gone. Of another machine or another container nothing is known. */
export function isGone({ boot, pidNamespace, pid, began }: Holder): boolean {
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
  try {
    return readFileSync(name, "utf8");
  } catch {
    return undefined;
  }
}

function readLink(name: string): string | undefined {
  try {
    return readlinkSync(name);
  } catch {
    return undefined;
  }
}

// Which process a run is, and whether that process is known to have ended.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { orUndefined } from "./context.js";

/** Identifies a process, as far as the operating system allows. */
export interface ProcessName {
  readonly host: string;
  readonly pid: number;
  /** The machine's boot id, which is new at each start. */
  readonly boot: string | undefined;
  readonly pidNamespace: string | undefined;
  /** When the process began. Process ids are reused; together with this time, each is unique. */
  readonly began: string | undefined;
}

export function thisProcess(): ProcessName {
  return {
    host: hostname(),
    pid: process.pid,
    boot: read("/proc/sys/kernel/random/boot_id")?.trim(),
    pidNamespace: readLink("/proc/self/ns/pid"),
    began: statOf("self")?.began,
  };
}

/** Whether a process is known to have ended. False for one of another machine or container, which cannot be seen. */
export function isGone({ boot, pidNamespace, pid, began }: Partial<ProcessName>): boolean {
  const here = thisProcess();
  if (boot === undefined || pidNamespace === undefined || began === undefined || pid === undefined)
    return false;
  if (boot !== here.boot || pidNamespace !== here.pidNamespace) return false;
  // /proc may belong to another PID namespace, in which the same numbers mean other processes.
  if (readLink("/proc/self") !== String(process.pid)) return false;
  const stat = statOf(pid);
  if (stat !== undefined) return stat.isDead || stat.began !== began;
  try {
    // Signal 0 finds a process even if /proc hides the processes of other users.
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

// Reads /proc/PID/stat. The second field is a name in parentheses, which may contain anything. The third is the state:
// Z is a process that has ended, but that its parent has not waited for. The 22nd is the start time.
function statOf(pid: number | "self"): { readonly isDead: boolean; readonly began: string } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const began = fields?.[19];
  return began === undefined ? undefined : { isDead: /^[ZXx]$/.test(fields?.[0] ?? ""), began };
}

function read(name: string): string | undefined {
  return orUndefined(() => readFileSync(name, "utf8"));
}

function readLink(name: string): string | undefined {
  return orUndefined(() => readlinkSync(name));
}

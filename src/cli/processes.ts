// Which process a run is, and whether that process is known to have ended.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { orUndefined } from "./context.js";

/**
 * A process: with the machine's boot id, which is new at each start, the PID namespace of its container, and when it
 * began. Process ids are reused; together with this time, each is unique.
 */
export type ProcessName = Readonly<{ host: string; pid: number }> &
  Readonly<Record<"boot" | "pidNamespace" | "began", string | undefined>>;

export function thisProcess(): ProcessName {
  return {
    ...{ host: hostname(), pid: process.pid, began: beganAt("self") },
    boot: orUndefined(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    pidNamespace: orUndefined(() => readlinkSync("/proc/self/ns/pid")),
  };
}

/** Whether a process is known to have ended. False for one of another machine or container, which cannot be seen. */
export function isGone({ boot, pidNamespace, pid, began }: Partial<ProcessName>): boolean {
  const here = thisProcess();
  if (pid === undefined || began === undefined || here.began === undefined) return false;
  if (boot !== here.boot || pidNamespace !== here.pidNamespace) return false;
  // /proc may belong to another PID namespace, in which the same numbers mean other processes.
  if (orUndefined(() => readlinkSync("/proc/self")) !== `${process.pid}`) return false;
  const now = beganAt(pid);
  if (now !== undefined) return now !== began;
  try {
    // Signal 0 finds a process even if /proc hides the processes of other users.
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

// Reads /proc/PID/stat. The second field is a name in parentheses, which may contain anything; the 22nd is the start time.
// The third is the state: Z and X stand for a process that has ended, but that its parent has not waited for.
function beganAt(pid: number | "self"): string | undefined {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return /^[ZXx]$/.test(fields[0] ?? "") ? "ended" : fields[19];
}

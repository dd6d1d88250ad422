import { readFileSync } from "node:fs";

/**
 * The most memory a process ever held; 0 if it is gone. Linux's maxRSS can be the parent's, from before the child's exec:
 * VmHWM cannot.
 */
export function peakBytes(pid = "self") {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return pid === "self" ? process.resourceUsage().maxRSS * 1024 : 0;
  }
}

import { readFileSync } from "node:fs";

/** The most memory a process ever held. Linux's maxRSS can be the parent's, from before the child's exec: VmHWM cannot. */
export function peakBytes(pid = "self") {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  } catch (error) {
    if (pid === "self") return process.resourceUsage().maxRSS * 1024;
    throw error;
  }
}

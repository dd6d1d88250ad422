// Watches whether this machine has time for its programs: on a busy one, times say little about the client.
import { cpus } from "node:os";

export interface MachineWatch {
  /** Whether the machine was busy at any time since `ms`, a time of `performance.now()`. */
  busySince(ms: number): boolean;
  stop(): void;
}

// The event loop is looked at this often, the processors with every tenth look.
const everyMs = 50;
// The machine is busy if the event loop is later than this, or if less than this share of its processors was idle. The
// first alone would not do: a system serves a program that mostly sleeps, as the runner, before one that computes.
const lateMs = 100;
const leastIdle = 0.05;
// The system counts in steps of 10 ms: a shorter look at the processors says nothing.
const shortestMs = 100;

/** Starts to watch the machine. */
export function watchMachine(): MachineWatch {
  let looks = 0;
  let lookedMs = performance.now();
  let counted = processorTimes();
  let busyMs = Number.NEGATIVE_INFINITY;
  const count = (): void => {
    const now = processorTimes();
    if (now.atMs - counted.atMs < shortestMs) return;
    if (now.idle - counted.idle < leastIdle * (now.total - counted.total)) busyMs = now.atMs;
    counted = now;
  };
  const look = (): void => {
    const now = performance.now();
    if (now - lookedMs > everyMs + lateMs) busyMs = now;
    lookedMs = now;
    if (++looks % 10 === 0) count();
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    busySince: (ms) => {
      count();
      return busyMs >= ms;
    },
    stop: () => clearInterval(timer),
  };
}

function processorTimes(): { readonly atMs: number; readonly idle: number; readonly total: number } {
  const times = cpus().map((processor) => processor.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const total = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { atMs: performance.now(), idle, total };
}

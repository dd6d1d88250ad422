// Watches whether this machine is busy: the times measured on a busy machine say little about the client.
import { cpus } from "node:os";

export interface MachineWatch {
  /** Whether the machine was busy at any time since `ms`, a time of `performance.now()`. */
  busySince(ms: number): boolean;
  stop(): void;
}

// How often the event loop is checked. The processors are checked every tenth time.
const everyMs = 50;
// The machine is busy if a timer is later than this, or if a smaller share of the processors' time was idle. Timers
// alone do not show it: a system serves a program that mostly sleeps, as this one, before one that computes.
const lateMs = 100;
const leastIdle = 0.05;
// The system counts processor time in steps of 10 ms, so a shorter interval says nothing.
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
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - lookedMs > everyMs + lateMs) busyMs = now;
    lookedMs = now;
    if (++looks % 10 === 0) count();
  }, everyMs).unref();
  return {
    busySince(ms) {
      count();
      return busyMs >= ms;
    },
    stop: () => clearInterval(timer),
  };
}

function processorTimes(): Readonly<Record<"atMs" | "idle" | "total", number>> {
  const times = cpus().map((processor) => processor.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const total = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { atMs: performance.now(), idle, total };
}

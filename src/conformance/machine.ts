// Watches whether this machine is busy: the times measured on a busy machine say little about the client.
import { cpus } from "node:os";

export interface MachineWatch {
  /** Whether the machine was busy at any time since `ms`, a time of `performance.now()`. */
  busySince(ms: number): boolean;
  stop(): void;
}

const everyMs = 120;
// The machine is busy if a timer is later than this, or if a smaller share of the processors' time was idle. Timers
// alone do not show it: a system serves a program that mostly sleeps, as this one, before one that computes.
const lateMs = 100;
const leastIdle = 0.05;
// The system counts processor time in steps of 10 ms, so a shorter interval says nothing.
const shortestMs = 100;

/** Starts to watch the machine. */
export function watchMachine(timesOf: typeof processorTimes = processorTimes): MachineWatch {
  let last = timesOf();
  let busyMs = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = timesOf();
    const ms = now.atMs - last.atMs;
    if (ms < shortestMs) return;
    const isIdle = now.idle - last.idle >= leastIdle * (now.total - last.total);
    if (!isIdle || ms > everyMs + lateMs) busyMs = now.atMs;
    last = now;
  };
  const timer = setInterval(look, everyMs).unref();
  const busySince = (ms: number): boolean => {
    look();
    return busyMs >= ms;
  };
  return { busySince, stop: () => clearInterval(timer) };
}

function processorTimes(): Readonly<Record<"atMs" | "idle" | "total", number>> {
  const times = cpus().map((processor) => processor.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const total = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { atMs: performance.now(), idle, total };
}

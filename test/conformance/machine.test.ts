import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { watchMachine } from "../../src/conformance/machine.js";

// A machine watched from 0 ms on: at `atMs`, so many ms of its processors' 1,000 were idle.
function watched(atMs: number, idle: number): boolean {
  let times = { atMs: 0, idle: 0, total: 0 };
  const machine = watchMachine(() => times);
  times = { atMs, idle, total: 1000 };
  const isBusy = machine.busySince(0);
  machine.stop();
  return isBusy;
}

test.each<[atMs: number, idle: number, isBusy: boolean]>([
  [120, 0, true],
  [120, 49, true],
  [120, 50, false],
  [220, 1000, false],
  [221, 1000, true],
  [99, 0, false],
])("after %i ms, of which %i in 1,000 were idle, the machine is busy: %s", (atMs, idle, isBusy) => {
  expect(watched(atMs, idle)).toBe(isBusy);
});

test("a machine whose processors all compute is busy", async () => {
  const machine = watchMachine();
  const loops = Array.from(
    { length: 2 * availableParallelism() },
    () => new Worker("for (;;);", { eval: true }),
  );
  try {
    await pause(300);
    const from = performance.now();
    await expect.poll(() => machine.busySince(from), { interval: 200, timeout: 20_000 }).toBe(true);
    expect(machine.busySince(performance.now() + 1000)).toBe(false);
  } finally {
    machine.stop();
    await Promise.all(loops.map((loop) => loop.terminate()));
  }
});

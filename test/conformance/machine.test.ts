import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { watchMachine } from "../../src/conformance/machine.js";

test("a machine whose processors all compute is busy, although the event loop is not late", async () => {
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

test("an event loop that is late makes the machine busy", async () => {
  const machine = watchMachine();
  const from = performance.now();
  while (performance.now() - from < 200);
  await pause(60);
  expect(machine.busySince(from)).toBe(true);
  machine.stop();
});

import { setTimeout as laterByMachine } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faults } from "../support/faults/faults.js";
import { testFaults } from "../support/faults/runFault.js";

// Whatever nobody holds is collected meanwhile: what a call needs must be held by the call.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const unheld = new WeakRef({});
let times = 0;
let timer: NodeJS.Timeout;

beforeAll(() => {
  const again = (): void => {
    const before = process.uptime();
    collect();
    times += 1;
    // On a busy machine, too, most of the time is left for the calls.
    timer = laterByMachine(again, 50 + 3_000 * (process.uptime() - before));
  };
  again();
});
afterAll(() => clearTimeout(timer));

testFaults(faults, { sampled: false });

test("garbage was collected all the time", () => {
  expect(unheld.deref()).toBeUndefined();
  expect(times).toBeGreaterThan(20);
});

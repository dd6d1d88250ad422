import { setTimeout as laterByMachine } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wireFaults } from "../support/faults/faults.js";
import { testFaults } from "../support/faults/testFaults.js";

// The faults again, while whatever nobody holds is collected: what a call needs must be held by the call.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const unheld = new WeakRef({});
let times = 0;
let timer: NodeJS.Timeout;

beforeAll(() => {
  const again = (): void => {
    collect();
    times += 1;
    timer = laterByMachine(again, 50);
  };
  again();
});
afterAll(() => clearTimeout(timer));

// The shapes of error bodies differ in nothing that is held or waited for.
testFaults(wireFaults);

test("garbage was collected all the time", () => {
  expect(unheld.deref()).toBeUndefined();
  expect(times).toBeGreaterThan(100);
});

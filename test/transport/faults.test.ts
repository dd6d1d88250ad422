import { faults } from "../support/faults/faults.js";
import { testFaults } from "../support/faults/runFault.js";

// Over one transport each; test/all/faults.test.ts has both, and what some systems cannot do.
testFaults(
  faults.filter(({ name }) => !name.includes("backlog")),
  { sampled: true },
);

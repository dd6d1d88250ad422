import { faults } from "../support/faults/faults.js";
import { testBulkFaults } from "../support/faults/testBulkFaults.js";

// An eighth of them; test/all/faultsBulk.test.ts has them all.
testBulkFaults(
  faults.filter(({ name }) => !name.includes("backlog")),
  true,
);

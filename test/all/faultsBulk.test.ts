import { faults } from "../support/faults/faults.js";
import { testBulkFaults } from "../support/faults/testBulkFaults.js";

testBulkFaults(faults, false);

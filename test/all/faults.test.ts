import { faults } from "../support/faults/faults.js";
import { testFaults } from "../support/faults/testFaults.js";

testFaults(faults);

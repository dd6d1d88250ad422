import { faults } from "../support/faults/faults.js";
import { testFaultsOnce } from "../support/faults/testFaults.js";

// Each fault with one operation; test/all/faults.test.ts calls all of them with each, and has what some systems cannot do.
testFaultsOnce(faults.filter(({ name }) => !name.includes("backlog")));

import { testOddPrograms } from "../support/oddPrograms.js";

// A sample; test/all/oddPrograms.test.ts has every fault.
testOddPrograms(16);

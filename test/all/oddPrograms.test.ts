import { testOddPrograms } from "../support/oddPrograms.js";

testOddPrograms(1);

import { testRetryTable } from "../support/testRetryTable.js";

testRetryTable(false);

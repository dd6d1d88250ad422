import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { allRows, conformanceFile } from "../support/decisionRows.js";
import { testRetryTable } from "../support/testRetryTable.js";

// Each row with one operation over one transport, by turns; test/all/retryTable.test.ts has both.
testRetryTable(true);

describe("the conformance data", () => {
  test.each(["retries", "errors", "exchanges", "mutants", "operations", "parameters"])(
    "%s.json is what its schema describes",
    (name) => {
      const schema = conformanceFile(`${name}.schema.json`) as object;
      const ajv = new Ajv2020({
        strict: true,
        allowUnionTypes: true,
        strictRequired: false,
        allErrors: true,
      });
      ajv.validate(schema, conformanceFile(`${name}.json`));
      expect(ajv.errors).toBeNull();
    },
  );

  test("names every event once", () => {
    const events = allRows.map(({ event }) => event);
    expect(new Set(events).size).toBe(events.length);
  });
});

import { expect, test } from "vitest";
import { maxLength, minLength } from "../../scripts/generate/ruleChecks.js";
import { thrownBy } from "../support/clients.js";

const place = { name: "title", rules: { type: "string" }, validate: () => {} } as const;

test("lengths count characters as JSON Schema does: an emoji is one", () => {
  expect(thrownBy(() => minLength("🦊", 2, place)).text).toBe(
    "title must have at least 2 characters, not 1.",
  );
  expect(() => minLength("🦊🦊", 2, place)).not.toThrow();
  expect(() => maxLength("🦊🦊", 2, place)).not.toThrow();
  expect(thrownBy(() => maxLength("🦊🦊🦊", 2, place)).text).toBe(
    "title must have at most 2 characters, not 3.",
  );
});

import { describe, expect, test } from "vitest";
import { requests } from "../../src/generated/contract.js";
import { isStatusError } from "../../src/index.js";
import { type Rules, validate } from "../../src/options/validate.js";
import { strictProblem } from "../../src/testing/receive.js";
import { textOf } from "../support/withHint.js";

/** What a value is refused with; nothing when it keeps its rules. */
function refusalOf(value: unknown, rules: Rules, name = "body"): string {
  try {
    validate(value, rules, name);
    return "";
  } catch (error) {
    if (!isStatusError(error)) throw error;
    expect(error).toMatchObject({ executed: "no", codeSource: "client" });
    return textOf(error);
  }
}

const invalid = (text: string) => `[INVALID_ARGUMENT] ${text}`;

describe("a value of the type", () => {
  const least = { type: "integer", minimum: 2 };
  const texts = { type: "array", minItems: 2, items: { type: "string" } };

  test.each<[value: unknown, rules: Rules, refusal: string]>([
    ["", { type: "string" }, ""],
    [new String("x"), { type: "string" }, invalid("x must be a string.")],
    [null, { type: "string" }, invalid("x must be a string.")],
    [false, { type: "boolean" }, ""],
    ["yes", { type: "boolean" }, invalid("x must be true or false.")],
    [0, { type: "boolean" }, invalid("x must be true or false.")],
    [2, least, ""],
    [2 ** 53 - 1, least, ""],
    [1, least, "[OUT_OF_RANGE] x must be at least 2, not 1."],
    [2.5, least, invalid("x must be a whole number, not 2.5.")],
    [2 ** 53, least, invalid("x must be a whole number, not 9007199254740992.")],
    [Number.NaN, least, invalid("x must be a whole number.")],
    ["2", least, invalid("x must be a whole number.")],
    [2n, least, invalid("x must be a whole number.")],
    [-0.5, { type: "number" }, ""],
    [Number.POSITIVE_INFINITY, { type: "number" }, invalid("x must be a finite number.")],
    ["1", { type: "number" }, invalid("x must be a finite number.")],
    [{}, { type: "object" }, ""],
    [Object.create(null), { type: "object" }, ""],
    [null, { type: "object" }, invalid("x must be an object.")],
    [[], { type: "object" }, invalid("x must be an object.")],
    [() => ({}), { type: "object" }, invalid("x must be an object.")],
    [[1, {}], { type: "array" }, ""],
    [{ length: 0 }, { type: "array" }, invalid("x must be a list.")],
    [["a", "b"], texts, ""],
    [["a"], texts, invalid("x must be a list of at least 2 strings.")],
    ["a", texts, invalid("x must be a list of at least 2 strings.")],
    [[], { ...texts, minItems: 1 }, invalid("x must be a list of at least 1 string.")],
    [["a", "b", 1], texts, invalid("x[2] must be a string.")],
    [new Array(2), texts, invalid("x[0] must be a string.")],
    [[3, 1], { type: "array", items: least }, "[OUT_OF_RANGE] x[1] must be at least 2, not 1."],
    [
      [{ a: 1 }],
      { type: "array", items: { type: "object", properties: { a: texts } } },
      invalid("a must be a list of at least 2 strings when given."),
    ],
  ])("%o is checked against %o", (value, rules, refusal) => {
    expect(refusalOf(value, rules, "x")).toBe(refusal);
  });
});

describe("the fields of an object", () => {
  const rules: Rules = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, truncate: { type: "boolean" }, size: { type: "integer" } },
  };

  test.each<[what: string, body: object, refusal: string]>([
    ["a field without rules passes", { name: "n", other: Symbol.iterator }, ""],
    ["undefined is as good as no field", { name: "n", truncate: undefined }, ""],
    ["a required one has to be there", { truncate: true }, invalid("name must be a string.")],
    ["undefined is not there", { name: undefined }, invalid("name must be a string.")],
    ["an inherited one is not there", Object.create({ name: "n" }), invalid("name must be a string.")],
    [
      "null is not as good as no field",
      { name: "n", truncate: null },
      invalid("truncate must be true or false when given."),
    ],
    [
      "an optional one is checked",
      { name: "n", truncate: "yes" },
      invalid("truncate must be true or false when given."),
    ],
    [
      "a number says what it is",
      { name: "n", size: 1.5 },
      invalid("size must be a whole number when given, not 1.5."),
    ],
  ])("%s", (_what, body, refusal) => {
    expect(refusalOf(body, rules)).toBe(refusal);
  });

  test("rules that others put on Object.prototype are none", () => {
    const prototype = Object.prototype as { other?: unknown };
    prototype.other = { type: "string" };
    try {
      expect(refusalOf({ name: "n" }, rules)).toBe("");
      expect(refusalOf({ name: "n", other: 1 }, rules)).toBe("");
    } finally {
      delete prototype.other;
    }
  });
});

describe("what the client leaves to the service, its stand-in refuses:", () => {
  const { rerankDocuments, resumeReinforcementFineTuningJob } = requests;
  const secret = "accounts/acme/secrets/object-store-a";
  const secretForm = "^accounts/[^/]+/secrets/[^/]+$";

  test.each<[what: string, value: unknown, rules: Rules, problem: string]>([
    [
      "a model of another form",
      { query: "q", documents: ["d"], model: "m" },
      rerankDocuments.body,
      "model must have the form accounts/<account>/models/<model_id>, such as accounts/acme/models/reranker-small.",
    ],
    [
      "a field of an object that has none",
      { a: 1 },
      resumeReinforcementFineTuningJob.body,
      "There is no field a.",
    ],
    [
      "an item of another form",
      [[secret], [secret, "c d"]],
      { type: "array", items: { type: "array", items: { type: "string", pattern: secretForm } } },
      `body[1][1] must have the form accounts/{account_id}/secrets/{secret_id}, such as ${secret}.`,
    ],
  ])("%s", (_what, value, rules, problem) => {
    expect(refusalOf(value, rules)).toBe("");
    expect(strictProblem(value, rules, "body")).toBe(problem);
  });

  test("nothing else", () => {
    const body = { query: "q", documents: ["d"], model: "accounts/acme/models/small", other: {} };
    expect(strictProblem(body, rerankDocuments.body, "body")).toBeUndefined();
    expect(strictProblem({}, resumeReinforcementFineTuningJob.body, "body")).toBeUndefined();
  });
});

import { describe, expect, test } from "vitest";
import { seededRandom } from "../../bench/outage/random.js";
import { jsonFault } from "../../src/cli/input/jsonFault.js";

describe("the fault of a text that is no JSON", () => {
  test.each([
    ["", 1, 1, "there is nothing"],
    [" \n ", 2, 2, "there is nothing"],
    ['{"a": NaN}', 1, 7, "NaN is no JSON value: write null"],
    ['{"a": [1, -Infinity]}', 1, 11, "-Infinity is no JSON value: write null"],
    ['{"a": None}', 1, 7, "None is no JSON value: write null"],
    ['{"a": True}', 1, 7, "True is no JSON value: write true"],
    ['{"a": constructor}', 1, 7, "a string needs double quotes"],
    ["{'a': 1}", 1, 2, "a name in double quotes is missing"],
    ["['a']", 1, 2, "a string needs double quotes, not single ones"],
    ["{a: 1}", 1, 2, "a name in double quotes is missing"],
    ['{"a": 1,}', 1, 9, "a trailing comma before }"],
    ["[1,]", 1, 4, "a value is missing before ]"],
    ["[1 2]", 1, 4, "a comma or ] is missing"],
    ['{"a" 1}', 1, 6, "a colon is missing after a name"],
    ['{"a": }', 1, 7, "a value is missing before }"],
    ['{"a": 1} {"b": 2}', 1, 10, "a second value begins here: each needs a line of its own"],
    ['{"a": "b', 1, 7, "this string does not end: a double quote is missing"],
    ['{"a": [1', 1, 9, "the array does not end: ] is missing"],
    ['{"a": "b\tc"}', 1, 9, "a control character in a string must be escaped"],
    ['{"a": "\\x41"}', 1, 8, "JSON has no such escape in a string"],
    ['{"a": "\\u12"}', 1, 8, "JSON has no such escape in a string"],
    ['{"a": 01}', 1, 7, "a number is not written as JSON has it"],
    ['{"a": .5}', 1, 7, "a number is not written as JSON has it"],
    ['{"a": 0x1F}', 1, 7, "a number is not written as JSON has it"],
    ['{"a": 1} // b', 1, 10, "JSON has no comments"],
    ['{"\u{1F600}ä": @}', 1, 8, "this character begins no JSON value"],
    ['{\n "a": 1\n "b": 2}', 3, 2, "a comma or } is missing"],
    ['{"a":\u00a01}', 1, 6, "this character begins no JSON value"],
  ])("%j", (text, line, column, reason) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonFault(text)).toEqual({ line, column, reason });
  });

  test("is found where JSON.parse finds one, and only there", () => {
    const random = seededRandom(41);
    const pick = (from: string): string => from[Math.floor(random() * from.length)] ?? "";
    const whole = JSON.stringify({
      a: [1, -2.5e-7, "x\n\u2028\\", null, true],
      b: { c: {}, d: [] },
      "": false,
    });
    let invalid = 0;
    for (let round = 0; round < 20_000; round += 1) {
      let text = whole;
      for (let edit = 0; edit <= random() * 3; edit += 1) {
        const at = Math.floor(random() * text.length);
        const put = random() < 0.3 ? "" : pick("{}[]\",:0123456789.eE+-truefalsn\\/ \n\t'u#N");
        text = text.slice(0, at) + put + text.slice(at + (random() < 0.5 ? 1 : 0));
      }
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
        invalid += 1;
      }
      expect([text, jsonFault(text) === undefined]).toEqual([text, isJson]);
    }
    expect(invalid).toBeGreaterThan(10_000);
  });

  test("is found in a text as deep as it likes", () => {
    const deep = "[".repeat(100_000);
    expect(jsonFault(deep)).toEqual({
      line: 1,
      column: 100_001,
      reason: "the array does not end: ] is missing",
    });
    expect(jsonFault(`${deep}1${"]".repeat(100_000)}`)).toBeUndefined();
  });
});

import { expect, test } from "vitest";
import { scoreShares } from "../../src/cli/terminal.js";

test.each([
  ["from 0 to 1", [0.9, 0.45, 0], [1, 0.5, 0]],
  ["small ones", [0.002, 0.001], [1, 0.5]],
  ["larger than 1", [40, 10], [1, 0.25]],
  ["above and below 0", [3, 0, -1], [1, 0.25, 0]],
  ["all below 0", [-1, -2, -5], [1, 0.75, 0]],
  ["all 0", [0, 0], [0, 0]],
  ["none", [], []],
])("the bars of scores %s go as far as the best of them", (_, scores, shares) => {
  expect(scoreShares(scores)).toEqual(shares);
});

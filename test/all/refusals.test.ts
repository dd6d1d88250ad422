// Ten cells of bench/refusals, by its own bounds; those with a rate have fewer rows, since each second is like the one before.
import { expect, test } from "vitest";
import { measure, type Plan, plans, problemsOf } from "../../bench/refusals/cells.js";

const cells: readonly (readonly [service: string, setting: string, rows: number, declared?: number])[] = [
  ["20 a second, 429 without a time", "rerankAll", 300, 19],
  ["20 a second, 429 with Retry-After: 1", "the command line", 300, 19],
  ["20 a second, 429 with Retry-After: 1", "rerankAll", 300],
  ["10 at once", "rerank.items", 300],
  ["200 at once", "the command line", 1000],
  ["30 % random 429", "rerankAll", 400],
  ["one row of 1,000 that is always refused", "rerankAll", 1000],
  ["an outage of 20 s", "the command line", 1000],
  ["a key revoked for 5 s", "rerankAll", 1000],
  ["the caller cancels", "rerank.items", 1000],
];

test.concurrent.each(cells)("%s, %s, %i rows: within the bounds", async (name, setting, rows, declared) => {
  const plan = plans.find(
    (each) => each.service.name === name && each.setting === setting && each.declared === declared,
  ) as Plan;
  const cell = await measure(plan, rows);
  expect(problemsOf(cell, plan, rows), JSON.stringify(cell)).toEqual([]);
}, 120_000);

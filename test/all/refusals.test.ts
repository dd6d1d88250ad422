// Ten cells of bench/refusals, by its own bounds; where fewer rows say the same there are fewer.
import { expect, test } from "vitest";
import { measure, type Plan, plans, problemsOf } from "../../bench/refusals/cells.js";

const withoutTime = "20 a second, 429 without Retry-After";
const withTime = "20 a second, 429 with Retry-After: 1";
const cells = [
  { name: withoutTime, setting: "rerankAll", rows: 300, declared: 19 },
  { name: withTime, setting: "the command line", rows: 300, declared: 19 },
  { name: withTime, setting: "rerankAll", rows: 300 },
  { name: "10 at once", setting: "rerank.items", rows: 300 },
  { name: "200 at once", setting: "the command line", rows: 1000 },
  { name: "30 % random 429", setting: "rerankAll", rows: 400 },
  { name: "one row of 1,000 that is always rejected", setting: "rerankAll", rows: 1000 },
  { name: "an outage of 20 s", setting: "the command line", rows: 1000 },
  { name: "a key revoked for 5 s", setting: "rerankAll", rows: 1000 },
  { name: "the caller cancels", setting: "rerank.items", rows: 400 },
];

for (const { name, setting, rows, declared } of cells)
  test.concurrent(`${name}, ${setting}: nothing is lost, and the bounds hold`, async () => {
    const plan = plans.find(
      (each) => each.service.name === name && each.setting === setting && each.declared === declared,
    ) as Plan;
    const cell = await measure(plan, rows);
    expect(problemsOf(cell, plan, rows), JSON.stringify(cell)).toEqual([]);
  });

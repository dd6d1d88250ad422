import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { benchmarkSummaryPart } from "../../docs/build/benchmarks.js";

const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), "utf8");
const results = JSON.parse(await read("bench/results.json"));
// It is JavaScript of the bench, without types.
const { chart } = await import(new URL("../../bench/chart.js", import.meta.url).href);
const newest = Object.keys(results)
  .map(Number)
  .sort((a, b) => b - a)[0] as number;

test("the chart is made of the results, of the newest Node that was measured", async () => {
  const drawn = await read("bench/chart.svg");
  expect(drawn).toBe(chart(results));
  expect(drawn).toContain(`Node ${results[newest].node}, medians of one run`);
});

test.each(["bench/chart.svg", "docs/public/outage.svg", "docs/public/bulk.svg"])(
  "%s has a label for its unit, and fits a phone without shrinking",
  async (file) => {
    const drawn = await read(file);
    expect(Number(/ width="(\d+)"/.exec(drawn)?.[1])).toBeLessThanOrEqual(400);
    expect(drawn).toMatch(
      /class="note"[^>]*>[^<]*(milliseconds|requests sent for each call|answers a second)/,
    );
    for (const [, size] of drawn.matchAll(/font(?:-size)?: (\d+)px/g))
      expect(Number(size)).toBeGreaterThanOrEqual(13);
  },
);

test("under the chart stand its figures, and every aim that is not reached", async () => {
  const { text } = await benchmarkSummaryPart();
  const { tunerank, nodeHttp } = results[newest].scenarios.cpuPerCall.medians;
  for (const figure of [tunerank, nodeHttp]) expect(text).toContain(`${figure.toFixed(1)} µs`);
  const bounds = Object.values<typeof results>(results).flatMap(({ node, scenarios }) =>
    Object.values<typeof results>(scenarios).flatMap((scenario) =>
      Object.entries<typeof results>(scenario.bounds).map(([figure, bound]) => ({ node, figure, ...bound })),
    ),
  );
  const missed = bounds.filter(({ reached }) => !reached);
  // As it is read: 1.265 is 1.27, and toFixed makes 1.26 of it.
  const hundredths = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  for (const { node, value } of missed) {
    const figure = value.toLocaleString("en", hundredths);
    expect(text).toMatch(new RegExp(`^- .* should be .*, and is .*\\b${figure} on Node ${node}[,.]`, "m"));
  }
  expect(text).toContain(`${bounds.length - missed.length} of ${bounds.length} [aims]`);
  expect(text.match(/\d on Node \d/g)?.length ?? 0).toBe(missed.length);
});

test("no guide has a measured figure that is not made of the results", async () => {
  for (const guide of ["benchmarks", "request", "runtimes", "bulk", "beyond-one-machine"]) {
    const text = await read(`docs/guide/${guide}.md`);
    expect(text.match(/\d[\d.]* (?:ms|µs) of CPU|\d[\d.]* kB|adds? \d+ ms/g), guide).toBeNull();
  }
});

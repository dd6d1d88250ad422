import { expect, test } from "vitest";
import { badgeOf, countsOf } from "../../src/conformance/report.js";
import { run } from "../../src/conformance/runner.js";
import { ask } from "../support/ask.js";

const counts = countsOf([], 0);
const [green, gray, red] = ["#1a7f37", "#59636e", "#b3261e"];

test.each([
  [{ passed: 3 }, green],
  [{ passed: 3, failed: 1 }, red],
  [{ passed: 3, skipped: 1 }, gray],
  [{ passed: 3, neverServed: 1 }, gray],
  [{ passed: 0 }, gray],
])("the badge of a run with %j is %s", (more, color) => {
  const badge = badgeOf({ ...counts, ...more }, "1.0.0");
  expect([green, gray, red].filter((each) => badge.includes(each))).toEqual([color]);
});

test("nothing of a web page of another origin can ask the runner for a test case", async () => {
  const end = new AbortController();
  const asked: Promise<readonly [number | undefined, string]>[] = [];
  await run({
    cells: [],
    port: 0,
    timeoutMs: 8000,
    signal: end.signal,
    onListening(url) {
      // An image has no Origin.
      for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://example.com" }, {}])
        asked.push(ask(`${url}/next`, { headers }));
      void Promise.allSettled(asked).then(() => end.abort());
    },
    onResult: () => {},
    onRefusal: () => {},
  });
  expect((await Promise.all(asked)).map(([status]) => status)).toEqual([403, 403, 200]);
});

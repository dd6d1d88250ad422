import { expect, test } from "vitest";
import { badgeOf, countsOf } from "../../src/conformance/report.js";
import { run } from "../../src/conformance/runner.js";
import { ask } from "../support/ask.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { everyCell } from "../support/conformance/mutants.js";

// One row of each way to serve; `npm run test:all` has all of them.
const sample = `
exchanges/answer-in-gzip
exchanges/answer-in-deflate
exchanges/calls-in-parallel
exchanges/file-name-with-quotes
exchanges/ids-with-every-character
exchanges/two-clients
form/early-hints
proxy/environment-suffix
proxy/tunnel
proxy/credentials
retries/key-in-message
retries/success-after-fresh-key
retries/success-after-retry-after-ms
retries/tls-expired
retries/tunnel-refused`
  .trim()
  .split("\n");

const none = () => {};
const quiet = { port: 0, timeoutMs: 60_000, onListening: none, onResult: none, onRefusal: none };

test("our own client passes a sample of the rows", async () => {
  const all = await everyCell();
  // Whatever operation has the row.
  const cells = sample.flatMap((row) => all.find(({ id }) => id.startsWith(`${row}/`)) ?? []);
  expect(cells).toHaveLength(sample.length);
  let certified: Promise<void> | undefined;
  const { results, cut } = await run({
    ...{ ...quiet, cells, signal: new AbortController().signal },
    onListening(url) {
      certified = certifyOwnClient(url);
    },
  });
  await certified;
  expect(cut).toBeUndefined();
  expect(results.filter(({ result }) => result !== "passed")).toEqual([]);
});

test("a run that is ended before its end says so", async () => {
  const cells = (await everyCell()).slice(0, 1);
  const { results, cut } = await run({ ...quiet, cells, signal: AbortSignal.abort() });
  expect([cut, results[0]?.result]).toEqual(["The run was ended before its end.", "never served"]);
});

test("nothing of a web page of another origin can ask the runner for a test case", async () => {
  const end = new AbortController();
  const asked: Promise<readonly [number | undefined, string]>[] = [];
  await run({
    ...{ ...quiet, cells: [], signal: end.signal },
    onListening(url) {
      // An image has no Origin.
      for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://example.com" }, {}])
        asked.push(ask(`${url}/next`, { headers }));
      void Promise.allSettled(asked).then(() => end.abort());
    },
  });
  expect((await Promise.all(asked)).map(([status]) => status)).toEqual([403, 403, 200]);
});

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

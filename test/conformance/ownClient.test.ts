// A sample of the rows, one of each way to serve; `npm run test:all` has all of them.
import { expect, test } from "vitest";
import { run } from "../../src/conformance/runner.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { everyCell } from "../support/conformance/mutants.js";

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

test("our own client passes a sample of the rows", async () => {
  const all = await everyCell();
  // Whatever operation has the row.
  const cells = sample.flatMap((row) => all.find(({ id }) => id.startsWith(`${row}/`)) ?? []);
  expect(cells).toHaveLength(sample.length);
  let certified: Promise<void> | undefined;
  const { results, cut } = await run({
    cells,
    port: 0,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onListening(url) {
      certified = certifyOwnClient(url);
    },
    onResult: () => {},
    onRefusal: () => {},
  });
  await certified;
  expect(cut).toBeUndefined();
  expect(results.filter(({ result }) => result !== "passed")).toEqual([]);
});

test("a run that is ended before its end says so", async () => {
  const cells = (await everyCell()).slice(0, 1);
  const end = AbortSignal.abort();
  const quiet = { onListening: () => {}, onResult: () => {}, onRefusal: () => {} };
  const { results, cut } = await run({ cells, port: 0, timeoutMs: 60_000, signal: end, ...quiet });
  expect([cut, results[0]?.result]).toEqual(["The run was ended before its end.", "never served"]);
});

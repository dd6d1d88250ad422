// A sample of the rows, one of each way to serve; `npm run test:all` has all of them.
import { expect, test } from "vitest";
import { run } from "../../src/conformance/runner.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { everyCell } from "../support/conformance/mutants.js";

const sample = `
exchanges/answer-in-gzip/rerankDocuments
exchanges/answer-in-deflate/rerankDocuments
exchanges/calls-in-parallel/rerankDocuments
exchanges/file-name-with-quotes/uploadDatasetFile
exchanges/ids-with-every-character/scaleDeployment
exchanges/two-clients/scaleDeployment
form/early-hints/uploadDatasetFile
proxy/environment-suffix/resumeReinforcementFineTuningJob
proxy/tunnel/rerankDocuments
proxy/credentials/uploadDatasetFile
retries/key-in-message/rerankDocuments
retries/success-after-fresh-key/scaleDeployment
retries/success-after-retry-after-ms/rerankDocuments
retries/tls-expired/resumeReinforcementFineTuningJob
retries/tunnel-refused/uploadDatasetFile`
  .trim()
  .split("\n");

test("our own client passes a sample of the rows", async () => {
  const cells = (await everyCell()).filter(({ id }) => sample.includes(id));
  expect(cells.map(({ id }) => id).sort()).toEqual([...sample].sort());
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

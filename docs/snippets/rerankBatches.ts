import { createClient } from "tunerank";

const client = createClient();
const lines = Array.from(
  { length: 2_500 },
  (_, index) => `Line ${index} of a log`,
);

const best = await client.rerank.items("disk full", lines, {
  text: (line) => line,
  batchSize: 1_000,
  concurrency: 2,
  topN: 10,
});
console.log(best.length);

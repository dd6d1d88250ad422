import { createClient, type RerankItemsError } from "tunerank";

const client = createClient();
const lines = ["Disk full.", "Disk replaced.", "Fan loud.", "Fan quiet."];
const options = {
  text: (line: string) => line,
  batchSize: 2,
  concurrency: 1,
};

try {
  await client.rerank.items("disk full", lines, options);
} catch (error) {
  const { partial } = error as RerankItemsError<string>;
  console.log(
    partial.data.length,
    "ranked,",
    partial.missing[0]?.count,
    "left",
  );
  const goOn = { ...options, continueFrom: partial };
  const best = await client.rerank.items("disk full", lines, goOn);
  console.log(best.length, "ranked");
}

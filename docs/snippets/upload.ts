import { createClient } from "tunerank";

const client = createClient();

const stored = await client.datasets.upload(
  "support-answers",
  "examples/train.jsonl",
  {
    onProgress: ({ sentBytes, totalBytes }) =>
      console.log(`${sentBytes} of ${totalBytes} bytes`),
  },
);

console.log(stored.id, stored.filename);

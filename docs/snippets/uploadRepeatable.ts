import { createClient } from "tunerank";

const client = createClient();

// You know that a second upload of this file replaces the first.
await client.datasets.upload("support-answers", "examples/train.jsonl", {
  repeatable: true,
});

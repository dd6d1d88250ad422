import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.datasets.upload("support-answers", "examples/train.jsonl", {
    verifyBytes: true,
  });
} catch (error) {
  if (!isStatusError(error, "DATA_LOSS")) throw error;
  console.log(error.message);
  console.log(error.executed);
}

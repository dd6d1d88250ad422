import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.datasets.upload("support-answers", "examples/train.jsonl");
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.log(error.message);
  console.log("executed:", error.executed);
  console.log("HTTP status:", error.httpStatus);
  console.log("code read from:", error.codeSource);
  console.log("attempts:", error.attempts.length);
  console.log("not retried:", error.notRetried);
}

import { createClient, isStatusError } from "tunerank";

const client = createClient({ timeoutMs: 20_000 });
const body = { query: "capital of France", documents: ["Paris.", "Rome."] };

const quick = client.withOptions({ timeoutMs: 200, maxRetries: 0 });
try {
  await quick.rerank(body);
} catch (error) {
  if (!isStatusError(error, "DEADLINE_EXCEEDED")) throw error;
  console.log(error.message);
}

import { RetryError, rerank } from "ai";
import { createClient, isStatusError } from "tunerank";
import { createRerankingModel } from "tunerank/ai-sdk";

const client = createClient();
const model = createRerankingModel(
  client,
  "accounts/acme/models/reranker-small",
);
try {
  await rerank({
    model,
    query: "I forgot my password",
    documents: [{ title: "Sign-in" }, { title: "Billing" }],
    providerOptions: { tunerank: { task: "Find the page that helps." } },
    maxRetries: 1, // of the AI SDK: two requests at most
  });
} catch (error) {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (!isStatusError(last)) throw last;
  console.log(last.code, last.executed);
}

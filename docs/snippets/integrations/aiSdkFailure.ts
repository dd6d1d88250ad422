import { rerank } from "ai";
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
  });
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.log(error.code, error.attempts.length);
}

import { createClient } from "tunerank";

const client = createClient({
  rerankModel: "accounts/acme/models/reranker-small",
});

const { data, model, usage } = await client.rerank({
  query: "How do I get back into my account when I forgot my password?",
  documents: [
    "Invoices of the last two years can be downloaded as PDF under Settings, Billing.",
    "A password needs twelve characters and must differ from your last five.",
    "If you forgot your password, choose Reset on the sign-in page.",
    "Our office in Lisbon is closed on public holidays.",
    "A reset link is valid for thirty minutes; ask for a new one after that.",
  ],
  top_n: 3,
  task: "Find the help article that answers the customer's question.",
});

console.log(model, usage?.total_tokens, "tokens");
for (const result of data)
  console.log(result.index, result.relevance_score, result.document);

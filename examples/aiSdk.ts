// Ranks with the AI SDK's rerank function; `ai` is a dependency of yours.
import { rerank } from "ai";
import { createClient } from "tunerank";
import { createRerankingModel } from "tunerank/ai-sdk";

const client = createClient(); // TUNERANK_BASE_URL, TUNERANK_API_KEY
const model = createRerankingModel(client, "accounts/acme/models/reranker-small");
const documents = [
  "A password needs twelve characters.",
  "If you forgot your password, choose Reset on the sign-in page.",
  "Our office in Lisbon is closed on public holidays.",
];
const { ranking } = await rerank({ model, query: "I forgot my password", documents, topN: 2 });
for (const { score, document } of ranking) console.log(score.toFixed(3), document);

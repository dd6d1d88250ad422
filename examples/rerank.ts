// Ranks documents by their relevance to a query.
import { createClient } from "tunerank";

const client = createClient(); // TUNERANK_BASE_URL, TUNERANK_API_KEY
const documents = [
  "A password needs twelve characters.",
  "If you forgot your password, choose Reset on the sign-in page.",
  "Our office in Lisbon is closed on public holidays.",
];
const { data } = await client.rerank({ query: "I forgot my password", documents, top_n: 2 });
for (const { index, relevance_score } of data) console.log(relevance_score.toFixed(3), documents[index]);

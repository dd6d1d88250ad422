import { createClient } from "tunerank";

const client = createClient();

const documents = [
  "Invoices of the last two years can be downloaded as PDF under Settings, Billing.",
  "A password needs twelve characters and must differ from your last five.",
  "If you forgot your password, choose Reset on the sign-in page.",
  "Our office in Lisbon is closed on public holidays.",
  "A reset link is valid for thirty minutes; ask for a new one after that.",
];
const { data } = await client.rerank({
  query: "I forgot my password",
  documents,
  top_n: 3,
});
for (const { index, relevance_score } of data)
  console.log(relevance_score, documents[index]);

import { createClient } from "tunerank";

const client = createClient({
  baseUrl: "http://127.0.0.1:4010",
  apiKey: "any-key-will-do",
});

const documents = [
  "Invoices can be downloaded as PDF.",
  "A link to a new password is valid for thirty minutes.",
  "I forgot my password: choose Reset.",
];
const { data } = await client.rerank({
  query: "I forgot my password",
  documents,
});
for (const { index, relevance_score } of data) {
  console.log(relevance_score.toFixed(2), documents[index]);
}

import { createClient } from "tunerank";

const client = createClient();
const topics = ["invoices", "passwords", "shipping", "holidays"];
const articles = Array.from({ length: 1000 }, (_, index) => ({
  id: index + 1,
  text: `Article ${index + 1} is about ${topics[index % 4]}.`,
}));

const best = await client.rerank.items(
  "Which article is about passwords",
  articles,
  { text: (article) => article.text, topN: 10 },
);
for (const { item, score } of best) {
  console.log(score.toFixed(2), item.text);
}

// Ranks objects of one's own by a text of each.
import { createClient } from "tunerank";

const client = createClient();
const articles = [
  { id: 17, title: "Invoices", body: "Invoices of two years are under Settings, Billing." },
  { id: 23, title: "Passwords", body: "If you forgot your password, choose Reset." },
];
const best = await client.rerank.items("I forgot my password", articles, {
  text: ({ title, body }) => `${title}. ${body}`,
  topN: 1,
});
for (const { item, score } of best) console.log(score.toFixed(3), item.id, item.title);

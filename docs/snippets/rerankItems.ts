import { createClient } from "tunerank";

const client = createClient();
const articles = [
  { id: 17, title: "Billing", text: "Invoices can be downloaded as PDF." },
  {
    id: 23,
    title: "Sign-in",
    text: "Choose Reset if you forgot your password.",
  },
  {
    id: 42,
    title: "Office",
    text: "The office in Lisbon is closed on public holidays.",
  },
];

const best = await client.rerank.items("I forgot my password", articles, {
  text: (article) => article.text,
  topN: 2,
});
for (const { item, score } of best) console.log(item.id, item.title, score);

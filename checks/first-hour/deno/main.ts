import { createClient, isStatusError } from "tunerank";

interface Article {
  readonly title: string;
  readonly body: string;
}

const articles: readonly Article[] = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const client = createClient();
const [best] = await client.rerank.items("capital of France", articles, {
  text: ({ body }) => body,
  topN: 1,
});
console.log(best?.item.title);

const { readable } = await Deno.open("train.jsonl");
const stored = await client.datasets.upload("reviews", readable, { name: "train.jsonl" });
console.log(stored.filename, stored.bytes);

try {
  await client.deployments.scale("prod", 2);
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.log(error.message);
}

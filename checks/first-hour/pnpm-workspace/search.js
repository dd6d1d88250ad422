// The code of both packages: `newer` and `older` differ in the version of tunerank alone.
import { createRequire } from "node:module";
import { createClient } from "tunerank";

export { isStatusError, StatusError } from "tunerank";
export const { version } = createRequire(import.meta.url)("tunerank/package.json");

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const client = createClient();

export async function search(query) {
  const [best] = await client.rerank.items(query, articles, { text: ({ body }) => body, topN: 1 });
  return best.item.title;
}

export const failing = (deployment) => client.deployments.scale(deployment, 1);

import { createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
// Its options are read at the first call, never by a build.
const client = createClient();

export default defineEventHandler(async (event) => {
  const query = String(getQuery(event).q ?? "");
  const controller = new AbortController();
  event.node.res.once("close", () => controller.abort());
  const { signal } = controller;
  try {
    const best = await client.rerank.items(query, articles, { text: ({ body }) => body, signal });
    return best.map(({ item }) => item.title);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { code, message } = error;
    console.log(message);
    setResponseStatus(event, 502);
    return { code, message };
  }
});

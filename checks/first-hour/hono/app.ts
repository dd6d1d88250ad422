import { Hono } from "hono";
import { createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const client = createClient();
export const app = new Hono();

app.get("/search", async (context) => {
  const { signal } = context.req.raw;
  const query = context.req.query("q") ?? "";
  const best = await client.rerank.items(query, articles, { text: ({ body }) => body, signal });
  return context.json(best.map(({ item }) => item.title));
});

app.post("/upload", async (context) => {
  const { file } = await context.req.parseBody<{ file: File }>();
  const { filename, bytes } = await client.datasets.upload("reviews", file);
  return context.json({ filename, bytes });
});

app.onError((error, context) => {
  if (!isStatusError(error)) throw error;
  console.log(error.message);
  return context.json({ code: error.code, message: error.message }, 502);
});

import express from "express";
import { createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const client = createClient();
const app = express();

app.get("/search", async (request, response) => {
  const controller = new AbortController();
  response.on("close", () => controller.abort());
  const { signal } = controller;
  const best = await client.rerank.items(request.query.q, articles, { text: ({ body }) => body, signal });
  response.json(best.map(({ item }) => item.title));
});

app.use((error, _request, response, next) => {
  if (!isStatusError(error)) return next(error);
  console.log(error.code);
  response.status(502).json({ code: error.code, message: error.message });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(server.address().port);
});

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
  const { code, message } = error;
  console.log(message);
  response.status(code === "INVALID_ARGUMENT" ? 400 : 502).json({ code, message });
});

app.listen(process.env.PORT ?? 3000);

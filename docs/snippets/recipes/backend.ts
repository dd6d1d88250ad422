import { createServer } from "node:http";
import { createClient, isStatusError } from "tunerank";

const client = createClient();
const articles = [
  "Invoices can be downloaded as PDF.",
  "I forgot my password: choose Reset.",
];

const server = createServer(async (request, response) => {
  // The one site whose pages may read the answers.
  const page = process.env.PAGE_ORIGIN ?? "https://www.example.com";
  response.setHeader("access-control-allow-origin", page);
  response.setHeader("content-type", "application/json");
  const answer = (status: number, body: object) =>
    response.writeHead(status).end(JSON.stringify(body));

  const { searchParams } = new URL(request.url ?? "", "http://here");
  const query = searchParams.get("q");
  if (!query) return answer(400, { error: "q is missing" });

  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const best = await client.rerank.items(query, articles, {
      text: (article) => article,
      topN: 1,
      signal: gone.signal,
    });
    answer(200, { best: best[0]?.item });
  } catch (error) {
    console.error(isStatusError(error) ? error.message : error);
    answer(502, { error: "The search failed." });
  }
});
server.listen(Number(process.env.PORT ?? 8080), () => {
  console.log("The backend listens on", server.address());
});

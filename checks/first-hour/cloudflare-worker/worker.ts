import { createClient, isStatusError } from "tunerank";

interface Env {
  readonly TUNERANK_BASE_URL: string;
  readonly TUNERANK_API_KEY: string;
  readonly TUNERANK_ACCOUNT_ID: string;
}

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const client = createClient({
      baseUrl: env.TUNERANK_BASE_URL,
      apiKey: env.TUNERANK_API_KEY,
      accountId: env.TUNERANK_ACCOUNT_ID,
    });
    if (request.method === "POST") {
      const form = await request.formData();
      const { filename, bytes } = await client.datasets.upload("reviews", form.get("file") as File);
      return Response.json({ filename, bytes });
    }
    const query = new URL(request.url).searchParams.get("q") ?? "";
    const { signal } = request;
    try {
      const best = await client.rerank.items(query, articles, { text: ({ body }) => body, signal });
      return Response.json(best.map(({ item }) => item.title));
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const { code, message } = error;
      console.log(message);
      return Response.json({ code, message }, { status: 502 });
    }
  },
};

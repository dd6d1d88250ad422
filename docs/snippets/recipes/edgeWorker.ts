import { createClient, isStatusError } from "tunerank";

interface Env {
  readonly TUNERANK_BASE_URL: string;
  readonly TUNERANK_API_KEY: string;
}

interface Search {
  readonly query: string;
  readonly documents: string[];
}

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const client = createClient({
      baseUrl: env.TUNERANK_BASE_URL,
      apiKey: env.TUNERANK_API_KEY,
    });
    const { query, documents } = (await request.json()) as Search;
    try {
      return Response.json(await client.rerank({ query, documents }));
    } catch (error) {
      if (!isStatusError(error)) throw error;
      console.error(error.message);
      const status = error.code === "INVALID_ARGUMENT" ? 400 : 502;
      return Response.json({ code: error.code }, { status });
    }
  },
};

export default worker;

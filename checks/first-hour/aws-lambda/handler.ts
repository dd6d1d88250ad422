import { createClient, isStatusError } from "tunerank";

interface Event {
  readonly queryStringParameters?: { readonly q?: string };
}

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
// Made once for all calls of this instance; its options are read from the environment at the first.
const client = createClient();

export async function handler(event: Event): Promise<{ statusCode: number; body: string }> {
  const query = event.queryStringParameters?.q ?? "";
  try {
    const best = await client.rerank.items(query, articles, { text: ({ body }) => body });
    return { statusCode: 200, body: JSON.stringify(best.map(({ item }) => item.title)) };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { code, message } = error;
    console.error(message);
    return { statusCode: 502, body: JSON.stringify({ code, message }) };
  }
}

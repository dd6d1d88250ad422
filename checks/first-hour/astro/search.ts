import type { APIRoute } from "astro";
import { createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
// Its options are read at the first call, never by a build.
const client = createClient();

// Rendered at each request, not by the build.
export const prerender = false;

export const GET: APIRoute = async ({ url, request }) => {
  const query = url.searchParams.get("q") ?? "";
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
};

export const POST: APIRoute = async ({ request }) => {
  const form = await request.formData();
  const { filename, bytes } = await client.datasets.upload("reviews", form.get("file") as File);
  return Response.json({ filename, bytes });
};

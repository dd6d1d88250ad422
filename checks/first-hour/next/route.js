import { createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
// Its options are read at the first call, never by a build.
const client = createClient();

export async function GET(request) {
  const query = request.nextUrl.searchParams.get("q");
  const { signal } = request;
  try {
    const best = await client.rerank.items(query, articles, { text: ({ body }) => body, signal });
    return Response.json(best.map(({ item }) => item.title));
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { code, message } = error;
    console.log(message);
    return Response.json({ code, message }, { status: code === "INVALID_ARGUMENT" ? 400 : 502 });
  }
}

export async function POST(request) {
  const form = await request.formData();
  const { filename, bytes } = await client.datasets.upload("reviews", form.get("file"));
  return Response.json({ filename, bytes });
}

import { createClient, isStatusError } from "tunerank";
import type { Route } from "./+types/search";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
// Its options are read at the first call, never by a build.
const client = createClient();

export async function loader({ request }: Route.LoaderArgs) {
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
}

export async function action({ request }: Route.ActionArgs) {
  const form = await request.formData();
  const { filename, bytes } = await client.datasets.upload("reviews", form.get("file") as File);
  return Response.json({ filename, bytes });
}

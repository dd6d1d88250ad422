import { createClient, isStatusError } from "tunerank";

// Its options are read at the first call, never by a build.
const client = createClient();

export async function POST(request) {
  const { query, documents } = await request.json();
  const { signal } = request;
  try {
    const ranked = await client.rerank({ query, documents }, { signal });
    return Response.json(ranked);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    console.error(error.message);
    const status = error.code === "INVALID_ARGUMENT" ? 400 : 502;
    return Response.json({ code: error.code }, { status });
  }
}

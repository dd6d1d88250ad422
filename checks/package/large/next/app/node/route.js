import { createClient } from "tunerank";

// At the top of the module, as users have it: a build must not need its options.
const client = createClient();

export async function POST(request) {
  return Response.json(await client.rerank(await request.json()));
}

import { createClient } from "tunerank";
import { Pool } from "undici";

const dispatcher = new Pool(process.env.TUNERANK_BASE_URL ?? "", {
  connections: 64,
});
const client = createClient({ dispatcher });

await client.rerank({
  query: "capital of France",
  documents: ["Paris.", "Rome."],
});
await dispatcher.close();

import { createClient } from "tunerank";

// From TUNERANK_BASE_URL, TUNERANK_API_KEY.
const client = createClient();

const { data } = await client.rerank({
  query: "capital of France",
  documents: ["Rome.", "Paris."],
});
console.log(data[0]?.index);

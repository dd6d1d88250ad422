import { createClient } from "tunerank";
import { rerankAll } from "tunerank/bulk";

const client = createClient();
const documents = ["Paris is on the Seine.", "Rome is on the Tiber."];

function* requests() {
  for (const id of ["Paris", "Rome"]) yield { id, query: id, documents };
}

const options = { ordered: true, timeoutMs: 120_000 };
const results = rerankAll(client, requests(), options);
for await (const { id, response, error } of results) {
  if (error) console.log(id, error.message);
  else console.log(id, response.data[0]?.relevance_score);
}

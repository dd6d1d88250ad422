import { createClient } from "tunerank";

const client = createClient({
  onAttempt: ({ operation, number, code, waitMs }) => {
    const next = waitMs === undefined ? "" : ", once more after a wait";
    console.log(
      `${operation}, attempt ${number}: ${code ?? "done"}${next}`,
    );
  },
});

await client.rerank({
  query: "capital of France",
  documents: ["Paris.", "Rome."],
});

// What the server answers with: the shapes of the contract.
import { small } from "./bodies.js";

const { model } = small;

export function rerankAnswer({ documents, top_n = documents.length, return_documents = true }) {
  const data = documents.slice(0, top_n).map((document, index) => ({
    index,
    relevance_score: 1 / (index + 1),
    ...(return_documents && { document }),
  }));
  const usage = { prompt_tokens: 131, total_tokens: 131 };
  return Buffer.from(JSON.stringify({ object: "list", model, data, usage }));
}

export const smallRerankAnswer = rerankAnswer(small);

export function uploadAnswer(bytes) {
  return Buffer.from(
    JSON.stringify({
      id: "file-7d1f9a",
      object: "file",
      bytes,
      created_at: 1772442900,
      filename: "train.jsonl",
      purpose: "fine-tune",
    }),
  );
}

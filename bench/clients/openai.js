// openai has no rerank: its raw post is used. Its upload goes to its own path.
import { createReadStream } from "node:fs";
import OpenAI from "openai";

export function open(baseUrl) {
  const client = new OpenAI({ apiKey: "bench-key", baseURL: baseUrl });
  return {
    rerank: (body) => client.post("/inference/v1/rerank", { body }),
    upload: (path) => client.files.create({ file: createReadStream(path), purpose: "fine-tune" }),
  };
}

// Node's own fetch, with FormData and openAsBlob for the upload.
import { openAsBlob } from "node:fs";

const authorization = "Bearer bench-key";

export function open(baseUrl) {
  const answerTo = async (path, headers, body) => {
    const answer = await fetch(baseUrl + path, {
      method: "POST",
      headers: { authorization, ...headers },
      body,
    });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return await answer.json();
  };
  return {
    rerank: (body) =>
      answerTo("/inference/v1/rerank", { "content-type": "application/json" }, JSON.stringify(body)),
    async upload(path) {
      const form = new FormData();
      form.append("file", await openAsBlob(path), "train.jsonl");
      return answerTo("/v1/accounts/bench/datasets/bench:upload", {}, form);
    },
  };
}

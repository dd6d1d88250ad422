// Node's own fetch, with FormData and openAsBlob for the upload.
import { openAsBlob } from "node:fs";

const authorization = "Bearer bench-key";

export function open(baseUrl) {
  const responseTo = async (path, headers, body) => {
    const response = await fetch(baseUrl + path, {
      method: "POST",
      headers: { authorization, ...headers },
      body,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.json();
  };
  return {
    rerank: (body) =>
      responseTo("/inference/v1/rerank", { "content-type": "application/json" }, JSON.stringify(body)),
    async upload(path) {
      const form = new FormData();
      form.append("file", await openAsBlob(path), "train.jsonl");
      return responseTo("/v1/accounts/bench/datasets/bench:upload", {}, form);
    },
  };
}

// undici's request, its cheapest call; its FormData with openAsBlob for the upload.
import { openAsBlob } from "node:fs";
import { FormData, request } from "undici";

const authorization = "Bearer bench-key";

export function open(baseUrl) {
  const answerTo = async (path, headers, body) => {
    const answer = await request(baseUrl + path, {
      method: "POST",
      headers: { authorization, ...headers },
      body,
    });
    if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
    return await answer.body.json();
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

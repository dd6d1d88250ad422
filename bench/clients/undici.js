// undici's request, its cheapest call; its FormData with openAsBlob for the upload.
import { openAsBlob } from "node:fs";
import { FormData, request } from "undici";

const authorization = "Bearer bench-key";

export function open(baseUrl) {
  const responseTo = async (path, headers, body) => {
    const response = await request(baseUrl + path, {
      method: "POST",
      headers: { authorization, ...headers },
      body,
    });
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
    return await response.body.json();
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

// The floor: node:http with a keep-alive agent, and nothing around it.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import http from "node:http";
import https from "node:https";

const boundary = "bare-node-http-boundary";
const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="train.jsonl"\r\nContent-Type: application/octet-stream\r\n\r\n`;
const tail = `\r\n--${boundary}--\r\n`;

export function open(baseUrl) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const { Agent, request } = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true });
  const post = (path, headers) =>
    request({
      hostname,
      port,
      path,
      method: "POST",
      agent,
      headers: { authorization: "Bearer bench-key", ...headers },
    });
  return {
    rerank(body) {
      const bytes = Buffer.from(JSON.stringify(body));
      const request = post("/inference/v1/rerank", {
        "content-type": "application/json",
        "content-length": bytes.byteLength,
      });
      const response = responseTo(request);
      request.end(bytes);
      return response;
    },
    async upload(path) {
      const { size } = await stat(path);
      const request = post("/v1/accounts/bench/datasets/bench:upload", {
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": head.length + size + tail.length,
      });
      const response = responseTo(request);
      request.write(head);
      // On Node 24 a pipeline into a request now and then waits for ever for its "drain".
      for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
        await new Promise((resolve) => request.write(chunk, resolve));
      }
      request.end(tail);
      return response;
    },
  };
}

function responseTo(request) {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    });
  });
}

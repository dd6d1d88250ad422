// node:http as nodeHttp.js has it, with gzip, errors and retries written by hand.
import http from "node:http";
import https from "node:https";
import { gunzipSync } from "node:zlib";
import { byHand, headers, path } from "./byHand.js";

export function open(baseUrl) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const { Agent, request } = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true });
  const send = (json) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(json);
      const lengths = { "accept-encoding": "gzip", "content-length": bytes.byteLength };
      const sent = request({
        hostname,
        port,
        path,
        method: "POST",
        agent,
        headers: { ...headers, ...lengths },
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, value: read(response, chunks) }));
      });
      sent.end(bytes);
    });
  return { rerank: byHand(send) };
}

function read({ headers: received }, chunks) {
  const bytes = Buffer.concat(chunks);
  return JSON.parse(received["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes.toString("utf8"));
}

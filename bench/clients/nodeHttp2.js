// node:http2 with one session, and errors and retries written by hand.
import http2 from "node:http2";
import { byHand, headers, path } from "./byHand.js";

export function open(baseUrl) {
  const session = http2.connect(baseUrl);
  const send = (json) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(json);
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-length": bytes.byteLength,
        ...headers,
      });
      const chunks = [];
      let status;
      stream.on("error", reject);
      stream.on("response", (received) => {
        status = received[":status"];
      });
      stream.on("data", (chunk) => chunks.push(chunk));
      stream.on("end", () => resolve({ status, value: JSON.parse(Buffer.concat(chunks).toString("utf8")) }));
      stream.end(bytes);
    });
  return { rerank: byHand(send) };
}

// What the server responds with: the shapes of the contract.
import { gzipSync } from "node:zlib";
import { large, medium, small } from "./bodies.js";

const { model } = small;

export function rerankResponse({ documents, top_n = documents.length, return_documents = true }) {
  const data = documents.slice(0, top_n).map((document, index) => ({
    index,
    relevance_score: 1 / (index + 1),
    ...(return_documents && { document }),
  }));
  const usage = { prompt_tokens: 131, total_tokens: 131 };
  return Buffer.from(JSON.stringify({ object: "list", model, data, usage }));
}

export const smallRerankResponse = rerankResponse(small);

// Made when it is asked for first.
const once = (make) => {
  let made;
  return () => {
    made ??= make();
    return made;
  };
};

/** The responses to a rerank that `rerankWith` chooses, whatever the request is. */
export const responses = {
  gzip: once(() => ({
    headers: { "content-encoding": "gzip" },
    bytes: gzipSync(rerankResponse({ ...medium, top_n: undefined })),
  })),
  notFound: once(() => ({
    status: 404,
    bytes: Buffer.from('{"code":"NOT_FOUND","message":"There is no such model."}'),
  })),
  everyTwentiethFails: once(() => ({
    status: 503,
    headers: { "retry-after": "0" },
    bytes: Buffer.from('{"code":"UNAVAILABLE","message":"busy"}'),
  })),
  // 9,500 documents of 1 kB, and what stands around each.
  tenMegabytes: once(() => ({ bytes: rerankResponse(large(9500)) })),
  short: once(() => ({ bytes: smallRerankResponse })),
};

export function uploadResponse(bytes) {
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

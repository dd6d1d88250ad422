import { Readable } from "node:stream";
import { createClient } from "tunerank";

const { datasets } = createClient();
const line =
  '{"prompt": "What is the capital of France?", "answer": "Paris"}\n';

await datasets.upload(
  "quiz",
  new URL("../../examples/train.jsonl", import.meta.url),
);
await datasets.upload("quiz", new TextEncoder().encode(line), {
  name: "bytes.jsonl",
});
await datasets.upload(
  "quiz",
  new Blob([line], { type: "application/jsonl" }),
  { name: "blob.jsonl" },
);

// A stream can be read only once, so it is never sent twice. With `size` it is sent with its length.
await datasets.upload("quiz", Readable.from([Buffer.from(line)]), {
  name: "stream.jsonl",
  size: line.length,
});

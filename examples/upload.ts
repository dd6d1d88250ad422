// Uploads a file from disk, with its progress; the file is never held in memory.
import { fileURLToPath } from "node:url";
import { createClient } from "tunerank";

const client = createClient();
const file = fileURLToPath(new URL("train.jsonl", import.meta.url));
const stored = await client.datasets.upload("reviews", file, {
  onProgress: ({ sentBytes, totalBytes }) => console.log(`${sentBytes} of ${totalBytes} bytes`),
});
console.log(stored.id, stored.filename, stored.bytes);

// The file that is uploaded: 150,000,000 bytes of JSON Lines, in the system's folder for temporary files.
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bytes = 150_000_000;

/** Calls `use` with the file's path and size, then removes it. */
export async function withUploadFile(use) {
  const folder = await mkdtemp(join(tmpdir(), "tunerank-bench-"));
  try {
    const path = join(folder, "train.jsonl");
    const file = await open(path, "w");
    const line = `${JSON.stringify({ prompt: "q".repeat(480), answer: "a".repeat(480) })}\n`;
    const block = Buffer.from(line.repeat(1000)).subarray(0, 1_000_000 - (1_000_000 % line.length));
    let left = bytes;
    for (; left > block.length; left -= block.length) await file.write(block);
    await file.write(block.subarray(0, left));
    await file.close();
    return await use({ path, bytes });
  } finally {
    await rm(folder, { recursive: true });
  }
}

import { readFile, writeFile } from "node:fs/promises";
import type { ChunkRequest, ChunkResult } from "tunerank/temporal";

// Files stand in for what all workers reach, such as a bucket. A chunk that is written again is written over.
export async function readChunk(n: number, list = ""): Promise<ChunkRequest[]> {
  return JSON.parse(await readFile(`${list}/${n}.json`, "utf8"));
}

export async function writeChunk(n: number, results: readonly ChunkResult[], list = ""): Promise<void> {
  await writeFile(`${list}/${n}.ranked.json`, JSON.stringify(results));
}

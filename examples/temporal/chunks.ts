import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import type { ChunkRequest, ChunkResult } from "tunerank/temporal";

// Files stand in for what all workers reach, such as a bucket.
const read = async (file: string) => JSON.parse(await readFile(file, "utf8"));

export const readChunk = (n: number, list = ""): Promise<ChunkRequest[]> => read(`${list}/${n}.json`);

export async function writePart(
  n: number,
  part: string,
  rows: readonly ChunkResult[],
  list = "",
): Promise<void> {
  const file = `${list}/${n}.${part}`;
  // Whole or not at all, as a bucket does it.
  await writeFile(`${file}.new`, JSON.stringify(rows));
  await rename(`${file}.new`, `${file}.ranked.json`);
}

export async function readParts(n: number, list = ""): Promise<ChunkResult[][]> {
  const names = (await readdir(list)).filter(
    (name) => name.startsWith(`${n}.`) && name.endsWith(".ranked.json"),
  );
  return Promise.all(names.map((name) => read(`${list}/${name}`)));
}

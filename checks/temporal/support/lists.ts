import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ChunkRequest, ChunkResult } from "tunerank/temporal";
import type { Engine } from "./engine.js";

/** Writes chunks with ids that are all different, for the workers to read. @returns the ids */
export function writeChunks(
  { folder }: Pick<Engine, "folder">,
  list: string,
  chunks: number,
  size: number,
): string[] {
  mkdirSync(path.join(folder, list));
  return Array.from({ length: chunks }, (_, n) => {
    const requests = Array.from({ length: size }, (_, row): ChunkRequest => {
      const id = `${list}-${n}-${row}`;
      return { id, query: id, documents: ["a", "b"] };
    });
    writeFileSync(path.join(folder, list, `${n}.json`), JSON.stringify(requests));
    return requests.map(({ id }) => id);
  }).flat();
}

/** All rows that are written. */
export function readResults({ folder }: Pick<Engine, "folder">, list: string): ChunkResult[] {
  const parts = readdirSync(path.join(folder, list)).filter((name) => name.endsWith(".ranked.json"));
  return parts.flatMap((name) => JSON.parse(readFileSync(path.join(folder, list, name), "utf8")));
}

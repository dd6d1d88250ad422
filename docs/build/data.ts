import { readFile } from "node:fs/promises";

const docs = new URL("../", import.meta.url);

/** A file of docs/data, which another command writes and git keeps. */
export async function readData<T>(name: string, command: string): Promise<T> {
  const text = await readFile(new URL(`data/${name}`, docs), "utf8").catch(() => {
    throw new Error(`docs/data/${name} is missing: ${command} writes it.`);
  });
  return JSON.parse(text) as T;
}

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../../../", import.meta.url));
export const generators: string = join(root, "checks/generators");

/** What is downloaded or built once and kept between runs. */
export const cache: string = join(generators, ".cache");

/** The folder of the callers kept for one tool. */
export function callers(tool: string): string {
  return join(generators, "callers", tool);
}

/** Empties a folder of the cache; what a failed run leaves there can be looked at. */
export async function emptyFolder(name: string): Promise<string> {
  const folder = join(cache, "work", name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

// The tarball's files against the list that is committed; --update writes it anew.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

const list = new URL("files.txt", import.meta.url);

/** Compares what the tarball holds with the list. */
export function checkFiles(files: readonly string[], update: boolean): string {
  // Names of chunks hold a hash of their content.
  const named = files.map((file) => file.replace(/-[A-Z0-9]{8}\.js/, "-HASH.js"));
  const found = [...new Set(named)].sort();
  if (update) writeFileSync(list, `${found.join("\n")}\n`);
  const wanted = readFileSync(list, "utf8").trimEnd().split("\n");
  const more = found.filter((file) => !wanted.includes(file));
  const fewer = wanted.filter((file) => !found.includes(file));
  if (more.length > 0 || fewer.length > 0) {
    throw new Error(
      `More: ${more.join(", ") || "none"}. Fewer: ${fewer.join(", ") || "none"}. Wanted? Run it with --update.`,
    );
  }
  return `${files.length} files`;
}

// bench/NOTES.md says what each part weighs.
const mostPacked = 1_100_000;
const mostUnpacked = 4_400_000;

/** Weighs the tarball, and what it holds. @param folder Where that is. */
export function checkWeight(tarball: string, folder: string, files: readonly string[]): string {
  const packed = statSync(tarball).size;
  const unpacked = files.reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
  const found = `${packed} bytes packed, ${unpacked} unpacked`;
  if (packed <= mostPacked && unpacked <= mostUnpacked) return found;
  throw new Error(`${found}: at most ${mostPacked} and ${mostUnpacked}.`);
}

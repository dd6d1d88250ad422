// The tarball's files against the list that is committed; --update writes it anew.
import { readFileSync, writeFileSync } from "node:fs";

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

// Says whether the contract breaks what was built on the last released one: [OLD NEW], baseline and openapi.yaml.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { describeBreak } from "../contract/breaking/breaks.js";
import type { Document } from "../contract/breaking/document.js";
import { findBreaks } from "../contract/breaking/findBreaks.js";

const root = new URL("../", import.meta.url);
const own = ["contract/baseline/openapi.yaml", "openapi.yaml"].map((name) =>
  fileURLToPath(new URL(name, root)),
);
const given = process.argv.slice(2);

if (given.length !== 0 && given.length !== 2) {
  console.error("Name two contracts, the old one and the new one, or none.");
  process.exitCode = 2;
} else {
  const [before, after] = (await Promise.all((given.length === 2 ? given : own).map(read))) as [
    Document,
    Document,
  ];
  const breaks = findBreaks(before, after);
  for (const found of breaks) console.error(describeBreak(found));
  if (breaks.length === 0) console.log("Nothing breaks.");
  else process.exitCode = 1;
}

async function read(path: string): Promise<Document> {
  return parse(await readFile(path, "utf8")) as Document;
}

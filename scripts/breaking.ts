// Says whether the contract breaks what was built on the last released one: [OLD NEW], baseline and openapi.yaml.
// With --changelog it writes the changes into the changelog of the contract.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { type Break, describeBreak } from "../contract/breaking/breaks.js";
import { describeChanges, withChanges } from "../contract/breaking/changelog.js";
import type { Document } from "../contract/breaking/document.js";
import { findAdditions } from "../contract/breaking/findAdditions.js";
import { findBreaks } from "../contract/breaking/findBreaks.js";
import { mayBreak } from "../contract/breaking/revision.js";

const root = new URL("../", import.meta.url);
const changelog = fileURLToPath(new URL("contract/CONTRACT-CHANGELOG.md", root));
const own = ["contract/baseline/openapi.yaml", "openapi.yaml"].map((name) =>
  fileURLToPath(new URL(name, root)),
);
const { values: options, positionals: given } = parseArgs({
  allowPositionals: true,
  options: { changelog: { type: "boolean", default: false } },
});

if (given.length !== 0 && given.length !== 2) {
  console.error("Name two contracts, the old one and the new one, or none.");
  process.exitCode = 2;
} else {
  const [before, after] = (await Promise.all((given.length === 2 ? given : own).map(read))) as [
    Document,
    Document,
  ];
  if (options.changelog) await writeChanges(before, after);
  else await check(before, after);
}

async function writeChanges(before: Document, after: Document): Promise<void> {
  const changes = describeChanges(findBreaks(before, after), findAdditions(before, after));
  // Of two contracts that are named, the changes are only shown.
  if (given.length === 2) return console.log(changes);
  const text = withChanges(await readFile(changelog, "utf8"), revisionOf(after), changes);
  await writeFile(changelog, text);
  console.log(
    `contract/CONTRACT-CHANGELOG.md says what changed from ${revisionOf(before)} to ${revisionOf(after)}.`,
  );
}

async function check(before: Document, after: Document): Promise<void> {
  const breaks = findBreaks(before, after);
  if (given.length === 2) return tell(breaks);
  const changes = describeChanges(breaks, findAdditions(before, after));
  const written = (await readFile(changelog, "utf8")).includes(changes);
  const [from, to] = [revisionOf(before), revisionOf(after)];
  if (breaks.length > 0 && !mayBreak(from, to)) {
    tell(breaks);
    console.error(`x-contract-revision was ${from} and is ${to}: raise it to one that may break.`);
  } else if (from !== to && !written) {
    console.error("The changelog of the contract is stale. Run `npm run check:breaking -- --changelog`.");
    process.exitCode = 1;
  } else if (breaks.length === 0) tell(breaks);
  else console.log(`Breaks what was built on ${from}, as ${to} may; all of it stands in the changelog.`);
}

function tell(breaks: readonly Break[]): void {
  for (const found of breaks) console.error(describeBreak(found));
  if (breaks.length === 0) console.log("Nothing breaks.");
  else process.exitCode = 1;
}

function revisionOf({ info }: Document): string {
  return info?.["x-contract-revision"] ?? "0.0.0";
}

async function read(path: string): Promise<Document> {
  return parse(await readFile(path, "utf8")) as Document;
}

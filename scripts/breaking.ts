// Says whether the contract breaks what was built on the last released one: the documents, the form for clients and the
// conformance data; or of two contracts that are named, OLD NEW, the documents alone.
// With --changelog it writes the changes into the changelog of the contract.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { describeChanges, mayBreak, withChanges } from "../contract/breaking/changelog.js";
import { describeBreak } from "../contract/breaking/comparison.js";
import type { Document } from "../contract/breaking/document.js";
import {
  type Changes,
  findChanges,
  findDocumentChanges,
  type Revision,
} from "../contract/breaking/findChanges.js";
import { publishedForms } from "./build/contract.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const contract = path.join(root, "contract");
const changelog = path.join(contract, "CONTRACT-CHANGELOG.md");
const { values: options, positionals: given } = parseArgs({
  allowPositionals: true,
  options: { changelog: { type: "boolean", default: false } },
});

if (given.length !== 0 && given.length !== 2) {
  console.error("Name two contracts, the old one and the new one, or none.");
  process.exitCode = 2;
} else if (given.length === 2) {
  const [before, after] = (await Promise.all(given.map(read))) as [Document, Document];
  const changes = findDocumentChanges(before, after);
  // Of two contracts that are named, the changes are only shown.
  if (options.changelog) console.log(describeChanges(changes));
  else tell(changes);
} else {
  const [before, after] = await Promise.all([released(), own()]);
  const changes = findChanges(before, after);
  const revisions = [revisionOf(before.contract), revisionOf(after.contract)] as const;
  if (options.changelog) await writeChanges(changes, ...revisions);
  else await check(changes, ...revisions);
}

async function writeChanges(changes: Changes, from: string, to: string): Promise<void> {
  const text = withChanges(await readFile(changelog, "utf8"), to, describeChanges(changes));
  await writeFile(changelog, text);
  console.log(`contract/CONTRACT-CHANGELOG.md says what changed from ${from} to ${to}.`);
}

async function check(changes: Changes, from: string, to: string): Promise<void> {
  const written = (await readFile(changelog, "utf8")).includes(describeChanges(changes));
  if (changes.breaks.length > 0 && !mayBreak(from, to)) {
    tell(changes);
    console.error(`x-contract-revision was ${from} and is ${to}: raise it to one that may break.`);
  } else if (from !== to && !written) {
    console.error("The changelog of the contract is stale. Run `npm run check:breaking -- --changelog`.");
    process.exitCode = 1;
  } else if (changes.breaks.length === 0) tell(changes);
  else console.log(`Breaks what was built on ${from}, as ${to} may; all of it stands in the changelog.`);
}

function tell({ breaks, additions, deprecations }: Changes): void {
  for (const found of breaks) console.error(describeBreak(found));
  for (const line of additions.filter((each) => each.includes("certified client")))
    console.log(`New: ${line}.`);
  for (const place of deprecations) console.log(`Deprecated: ${place}.`);
  if (breaks.length === 0) console.log("Nothing breaks.");
  else process.exitCode = 1;
}

/** The last release: the contract as it was written, and the files that are kept of its revision. */
async function released(): Promise<Revision> {
  const document = await read(path.join(contract, "baseline/openapi.yaml"));
  const folder = path.join(contract, "revisions", revisionOf(document));
  const names = await readdir(folder);
  // Before 0.2.0 there was one form for all.
  const clients = names.find((name) => name === "openapi-client.json") ?? "openapi.json";
  const data = await readData(path.join(folder, "conformance"));
  return { contract: document, clients: await read(path.join(folder, clients)), data };
}

async function own(): Promise<Revision> {
  const source = path.join(root, "openapi.yaml");
  const forms = publishedForms(await readFile(source, "utf8"));
  const clients = JSON.parse(forms["openapi-client.json"] ?? "") as Document;
  return { contract: await read(source), clients, data: await readData(path.join(contract, "conformance")) };
}

async function readData(folder: string): Promise<Revision["data"]> {
  const names = (await readdir(folder)).filter((name) => /^\w+\.json$/.test(name)).sort();
  const files = names.map(async (name) => [
    name,
    JSON.parse(await readFile(path.join(folder, name), "utf8")),
  ]);
  return Object.fromEntries(await Promise.all(files));
}

function revisionOf({ info }: Document): string {
  return info?.["x-contract-revision"] ?? "0.0.0";
}

async function read(file: string): Promise<Document> {
  return parse(await readFile(file, "utf8")) as Document;
}

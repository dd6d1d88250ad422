import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { publishedForms } from "./contract.js";

/** Conformance data with the revision of the contract that it belongs to. */
export function withRevision(text: string, revision: string): string {
  const line = ` "x-contract-revision":${JSON.stringify(revision)},\n`;
  const known = /^ "x-contract-revision":.*\n/m;
  return known.test(text) ? text.replace(known, line) : text.replace(/^ "\$schema":.*\n/m, `$&${line}`);
}

/** A schema of conformance data with a name of its own for ever. */
export function withId(text: string, name: string, revision: string): string {
  const line = `  "$id": "urn:tunerank:contract:${revision}:conformance:${name}",\n`;
  const known = /^ {2}"\$id": .*\n/m;
  return known.test(text) ? text.replace(known, line) : text.replace(/^ {2}"\$schema": .*\n/m, `$&${line}`);
}

/** What is kept of a revision, by file name: the published forms, the conformance data, and their sums. */
export function revisionFiles(
  source: string,
  conformance: Readonly<Record<string, string>>,
): Record<string, string> {
  const files: Record<string, string> = { ...publishedForms(source) };
  for (const [name, text] of Object.entries(conformance)) files[`conformance/${name}`] = text;
  const names = Object.keys(files).sort();
  const sums = names.map((name) => `${sha256(files[name] ?? "")}  ${name}\n`);
  return { ...files, SHA256SUMS: sums.join("") };
}

/** Writes the contract's own revision to a folder of its name below `folder`. */
export async function writeRevision(root: string, folder: string): Promise<void> {
  const source = await readFile(path.join(root, "openapi.yaml"), "utf8");
  const data = path.join(root, "contract/conformance");
  const names = (await readdir(data)).filter((name) => name.endsWith(".json"));
  const texts = await Promise.all(names.map((name) => readFile(path.join(data, name), "utf8")));
  const conformance = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? ""]));
  const [, revision = ""] = /^ {2}x-contract-revision: (.+)$/m.exec(source) ?? [];
  for (const [name, text] of Object.entries(revisionFiles(source, conformance))) {
    const file = path.join(folder, revision, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

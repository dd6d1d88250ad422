import { createHash } from "node:crypto";
import { publishedForms } from "../build/contract.js";

/** Conformance data with the revision of the contract that it belongs to. */
export function withRevision(text: string, revision: string): string {
  const line = `  "x-contract-revision": ${JSON.stringify(revision)},\n`;
  const known = /^ {2}"x-contract-revision": .*\n/m;
  return known.test(text) ? text.replace(known, line) : text.replace(/^ {2}"\$schema": .*\n/m, `$&${line}`);
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

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

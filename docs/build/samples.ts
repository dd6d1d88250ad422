import { readFile } from "node:fs/promises";
import { columns } from "./conformance.js";

/** A sample of one operation, as the reference shows it. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

type Operation = { operationId?: string; "x-codeSamples"?: CodeSample[] };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const snippets = new URL("../snippets/", import.meta.url);
const languages = [
  { lang: "typescript", label: "TypeScript", extension: "ts" },
  { lang: "shell", label: "curl", extension: "sh" },
  { lang: "python", label: "Python", extension: "py" },
] as const;

/** The document with the snippets of each operation; what is published stays without them. */
export async function withSamples<T extends Document>(document: T): Promise<T> {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy.paths).flatMap((item) => Object.values(item))) {
    const column = columns.find((each) => each.operation === operation.operationId);
    if (column === undefined) throw new Error(`There are no samples of ${operation.operationId}.`);
    operation["x-codeSamples"] = await samplesOf(column.name);
  }
  return copy;
}

async function samplesOf(name: string): Promise<CodeSample[]> {
  return await Promise.all(
    languages.map(async ({ lang, label, extension }) => {
      const source = await readFile(new URL(`${name}.${extension}`, snippets), "utf8");
      return { lang, label, source: source.trimEnd() };
    }),
  );
}

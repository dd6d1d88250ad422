import { readFile } from "node:fs/promises";
import path from "node:path";
import { documentPages, relinked, repositoryLink } from "./addresses.js";
import { writtenPages } from "./blocks.js";
import { codePages, decisionPages, errorBodyPages } from "./codes.js";
import { Contract, enumPages, revisionsPart, unstatedPart, versionsPart } from "./contract.js";
import { type Page, withUnstated } from "./markdown.js";
import {
  benchmarksPart,
  conformancePart,
  languagesPart,
  outagePart,
  programParts,
  reasonsPart,
  runtimesPart,
} from "./measured.js";
import { commandLineParts, commandOptionsPart, optionsPart } from "./options.js";
import { referencePages } from "./reference.js";

/** The pages and parts of pages that are made of the contract and of the sources. */
export async function contractPages(): Promise<Page[]> {
  const contract = await Contract.read();
  return [
    ...(await codePages(contract)),
    ...[...enumPages(contract), ...referencePages(contract)].map(withUnstated),
    ...(await decisionPages()),
    ...(await errorBodyPages()),
    ...(await documentPages()),
    ...commandLineParts(),
    commandOptionsPart(),
    await optionsPart(),
    unstatedPart(contract),
    await versionsPart(contract),
    await revisionsPart(),
  ];
}

/** The parts that are made of what the checks and the bench have measured. */
export const measuredParts: readonly (() => Promise<Page | Page[]>)[] = [
  runtimesPart,
  languagesPart,
  conformancePart,
  benchmarksPart,
  outagePart,
  reasonsPart,
];

// What is generated of a guide stands in the guide too, between two comments, as Markdown that reads well anywhere.

/** The guides as they should be now, by their files below the project's folder. */
export async function guides(root: string): Promise<Record<string, string>> {
  const pages = [...(await contractPages()), ...(await measured()), ...(await programParts())];
  const written: Record<string, string> = {};
  for (const file of ["README.md", ...writtenPages().map((name) => `docs/${name}`)]) {
    written[file] = withParts(file, await readFile(path.join(root, file), "utf8"), pages);
  }
  return written;
}

// What nobody has measured yet keeps its place.
async function measured(): Promise<Page[]> {
  const parts = await Promise.all(measuredParts.map((part) => part().catch(() => undefined)));
  return parts.flat().filter((part) => part !== undefined);
}

/** A guide in which what stands between the comments of these parts is theirs. */
export function withParts(file: string, guide: string, parts: readonly Page[]): string {
  return guide.replaceAll(
    /^(<!-- begin: ([\w-]+) -->)\n.*?^(<!-- end: \2 -->)$/gms,
    (all, begin: string, name: string, end: string) => {
      const part = parts.find((each) => each.path === `parts/${name}.md`);
      if (part === undefined) return all;
      return `${begin}\n\n${readable(part.text, file).trim()}\n\n${end}`;
    },
  );
}

// Folded parts as HTML, which GitHub folds too.
function readable(text: string, file: string): string {
  const folded = text.replaceAll(
    /^::: details ([^\n]*)\n(.*?)\n:::$/gms,
    "<details>\n<summary>$1</summary>\n\n$2\n\n</details>",
  );
  return relinked(folded, ({ address }) => repositoryLink(address, file)).replaceAll(/\n{3,}/g, "\n\n");
}

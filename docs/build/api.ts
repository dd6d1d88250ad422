import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { entries } from "../../scripts/build/entries.js";
import { head, table } from "./markdown.js";

/** Modules of `tunerank` whose types have a page of their own: one page of all would be too heavy. */
export const typePages: Readonly<Record<string, string>> = {
  "options/types": "Types of options and events",
  "ranking/types": "Types of rankings in batches",
  "generated/types": "Types of requests and responses",
};

/** Writes a page of what each entry of the package exports, with TypeDoc: docs/typedoc.json has its options. */
export async function writeApiPages(docs: string): Promise<void> {
  const typedoc = path.join(docs, "node_modules/typedoc/bin/typedoc");
  const args = [typedoc, "--options", path.join(docs, "typedoc.json"), "--logLevel", "Warn"];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [exitCode] = await once(child, "exit");
  if (exitCode !== 0) throw new Error(`TypeDoc ended with ${exitCode}.`);
  const folder = path.join(docs, "generated/api");
  const row = async (name: string, title: string): Promise<string[]> => {
    const file = path.join(folder, `${name}.md`);
    const text = shorter(await readFile(file, "utf8")).replace(/^# .*/, `# ${title}`);
    const [, words = ""] = text.split("\n\n");
    const said = name in typePages ? `${title} of \`tunerank\`.` : words.trim().replaceAll("\n", " ");
    await writeFile(
      file,
      `${head(`API of ${title}`, said)}\n${text}`.replace("---\n", "---\npageClass: api\n"),
    );
    return [`[\`${name}\`](/api/${name}.md)`, said];
  };
  const names = entries.map(({ name }) => path.posix.join("tunerank", name));
  const rows = await Promise.all([
    ...names.map((name) => row(name, name)),
    ...Object.entries(typePages).map(([name, title]) => row(name, title)),
  ]);
  const text = [
    head("The TypeScript API", "Every function, option and type of the package, a page for each entry."),
    "# The TypeScript API\n",
    table(["Import from", "What it is"], rows),
    "\n`tunerank/browser` has the exports of `tunerank` in one file, for [pages without a bundler](/guide/runtimes.md#pages-without-a-bundler).\n",
  ];
  await writeFile(path.join(folder, "index.md"), text.join("\n"));
}

// The text without what is noise between members; its headings have no gaps, and a re-export is a link.
function shorter(text: string): string {
  const open: number[] = [];
  return text
    .replaceAll(/^#+ (?:Overrides|Inherited from|Extended by|Implementation of)\n+(?:.+\n)+\n*/gm, "")
    .replaceAll(
      /^#+ (?:Properties|Methods|Accessors|Constructors|Example|(?:Type )?Parameters|Get Signature)\n+/gm,
      "",
    )
    .replaceAll(/^#+ Default\n+```ts\n(.*)\n```/gm, "**Default** `$1`")
    .replaceAll(/^#+ (Returns|Throws|Extends|Default|Deprecated)\n+/gm, "**$1** ")
    .replaceAll(/^### \w+\n\nRe-exports (.*)\n*(?:\*\*\*\n\n)?/gm, "- $1\n")
    .replaceAll(/^(##+) /gm, (_, { length }: string) => {
      while ((open.at(-1) ?? 0) >= length) open.pop();
      return `${"#".repeat(open.push(length) + 1)} `;
    });
}

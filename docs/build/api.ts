import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { entries } from "../../scripts/build/entries.js";
import { head, table } from "./markdown.js";

/** Writes a page of what each entry of the package exports, with TypeDoc: docs/typedoc.json has its options. */
export async function writeApiPages(docs: string): Promise<void> {
  const typedoc = path.join(docs, "node_modules/typedoc/bin/typedoc");
  const args = [typedoc, "--options", path.join(docs, "typedoc.json"), "--logLevel", "Warn"];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [exitCode] = await once(child, "exit");
  if (exitCode !== 0) throw new Error(`TypeDoc ended with ${exitCode}.`);
  const folder = path.join(docs, "generated/api");
  const rows = await Promise.all(
    entries.map(async (entry) => {
      const name = path.posix.join("tunerank", entry.name);
      const file = path.join(folder, `${name}.md`);
      const text = await readFile(file, "utf8");
      const [, words = ""] = text.split("\n\n");
      // What TypeDoc says of where a member comes from, and a heading for each kind of word, is noise between members.
      const short = text
        .replaceAll(/^#+ (?:Overrides|Inherited from|Extended by|Implementation of)\n+(?:.+\n)+\n*/gm, "")
        .replaceAll(
          /^#+ (?:Properties|Methods|Accessors|Constructors|Example|Parameters|Get Signature)\n+/gm,
          "",
        )
        .replaceAll(/^#+ (Returns|Throws|Extends|Default|Deprecated|Type Parameters)\n+/gm, "**$1** ");
      // TypeDoc links to shapes that stand elsewhere: of what has no heading here, the words remain.
      const anchors = new Set([...short.matchAll(/^#+ (.*)$/gm)].map(([, name = ""]) => anchorOf(name)));
      const linked = short.replaceAll(/\[([^\]]*)\]\(#([\w-]+)\)/g, (link, said: string, to: string) =>
        anchors.has(to.replace(/-\d+$/, "")) ? link : said,
      );
      const said = words.trim().replaceAll("\n", " ");
      await writeFile(
        file,
        `${head(`API of ${name}`, said)}\n${linked}`.replace("---\n", "---\npageClass: api\n"),
      );
      return [`[\`${name}\`](/api/${name}.md)`, said];
    }),
  );
  const text = [
    head("The TypeScript API", "Every function, option and type of the package, a page for each entry."),
    "# The TypeScript API\n",
    table(["Import from", "What it is"], rows),
    "\n`tunerank/browser` has the exports of `tunerank` in one file, for [pages without a bundler](/guide/runtimes.md#pages-without-a-bundler).\n",
  ];
  await writeFile(path.join(folder, "index.md"), text.join("\n"));
}

const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(/[^\w-]/g, "");

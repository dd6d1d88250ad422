import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { about } from "../../docs/build/llms.js";
import { contractPages, measuredParts } from "../../docs/build/pages.js";
import { plainPage } from "../../docs/build/plainPage.js";

/** Writes the guides as Markdown to dist/docs, for people offline and for assistants, and llms.txt, their list. */
export async function writeGuides(root: string, dist: string): Promise<void> {
  const docs = path.join(root, "docs");
  const sources = await guides(docs);
  // What nobody has measured yet keeps nobody from building.
  const measured = await Promise.all(measuredParts.map((part) => part().catch(() => undefined)));
  const pages = [...(await contractPages()), ...measured.filter((part) => part !== undefined)];
  const generated = new Map(pages.map(({ path: name, text }) => [name, text]));
  for (const [name, text] of generated) {
    if (name.startsWith("guide/")) sources.set(path.basename(name), text);
  }
  const include = async (part: string) => generated.get(part.replace("../generated/", "")) ?? "";
  await mkdir(path.join(dist, "docs"), { recursive: true });
  const listed: string[] = [];
  for (const [name, raw] of [...sources].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))) {
    const { title, description, text } = await plainPage(raw, docs, include);
    await writeFile(path.join(dist, "docs", name), withRelativeLinks(text, sources));
    listed.push(`- [${title}](docs/${name}): ${description}`);
  }
  await writeFile(path.join(dist, "llms.txt"), `${about}\n## Guides\n\n${listed.join("\n")}\n`);
}

async function guides(docs: string): Promise<Map<string, string>> {
  const names = await readdir(path.join(docs, "guide"));
  const texts = names.map(
    async (name) => [name, await readFile(path.join(docs, "guide", name), "utf8")] as const,
  );
  return new Map(await Promise.all(texts));
}

// What somebody reads first comes first.
function rank(name: string): number {
  return name === "quickstart.md" ? 0 : 1;
}

// Of what only the site has, the words of a link stay; its pictures do not.
function withRelativeLinks(text: string, shipped: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(/^!\[[^\]]*\]\((?!https:).*\)\n*/gm, "")
    .replaceAll(/\[([^\]]*)\]\(\/([^)#]*)(#[^)]*)?\)/g, (_, words: string, address: string, anchor = "") => {
      const name = path.basename(address);
      const isGuide = address.startsWith("guide/") && shipped.has(name);
      return isGuide ? `[${words}](${name}${anchor})` : words;
    });
}

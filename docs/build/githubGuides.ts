import { access } from "node:fs/promises";
import path from "node:path";
import { documents } from "./documents.js";
import { guideAt, type PlainGuide, plainGuides, relative, withLinks } from "./plainGuides.js";

/** Where they stand, below the project's folder. */
const folder = "docs/github/";

/** The guides for those who read them on GitHub, which shows no included code and no link of the site, by file name. */
export async function githubGuides(root: string): Promise<Record<string, string>> {
  // The project's own documents read well where they stand.
  const elsewhere = new Map(documents.map(({ page, file }) => [guideAt(`/${page}`), file]));
  const guides = (await plainGuides(path.join(root, "docs"))).filter(({ name }) => !elsewhere.has(name));
  const files = new Map([
    ...[...elsewhere].map(([name = "", file]) => [name, file] as const),
    ...guides.map(({ name }) => [name, folder + name] as const),
  ]);
  const texts = guides.map(async ({ name, text }) => [
    folder + name,
    await onGithub(name, text, files, root),
  ]);
  return { ...Object.fromEntries(await Promise.all(texts)), [`${folder}README.md`]: list(guides) };
}

async function onGithub(
  name: string,
  text: string,
  files: ReadonlyMap<string, string>,
  root: string,
): Promise<string> {
  const own = folder + name;
  const found = new Map<string, string>();
  for (const [, address = ""] of text.matchAll(/\]\((\/[^)#]*)/g)) {
    const file = files.get(guideAt(address) ?? "") ?? (await fileAt(address, root));
    if (file !== undefined) found.set(address, relative(own, file));
  }
  const linked = withLinks(text, (address) => found.get(address));
  const chart = relative(own, "bench/chart.svg");
  return `<!-- Written by \`npm run generate\`. -->\n\n${linked.replace("](../generated/chart.svg)", `](${chart})`)}`;
}

// What the site publishes of the project's files.
async function fileAt(address: string, root: string): Promise<string | undefined> {
  for (const file of [`docs/public${address}`, `contract${address}`, address.slice(1)]) {
    const isThere = access(path.join(root, file)).then(
      () => true,
      () => false,
    );
    if (/\.\w+$/.test(address) && (await isThere)) return file;
  }
  return undefined;
}

function list(guides: readonly PlainGuide[]): string {
  const lines = guides.map(({ name, title, description }) => `- [${title}](${name}): ${description}`);
  const text = "The guides as they stand on the site, for reading here: their code is in them.";
  return `<!-- Written by \`npm run generate\`. -->\n\n# Guides\n\n${text}\n\n${lines.join("\n")}\n`;
}

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { contractPages, measuredParts } from "./pages.js";
import { plainPage } from "./plainPage.js";

/** A guide or a recipe as Markdown that stands alone; its links are the site's. */
export interface PlainGuide {
  /** `quickstart.md`, `recipes/go.md`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

/** Every guide and recipe, what somebody reads first coming first. */
export async function plainGuides(docs: string): Promise<PlainGuide[]> {
  const sources = new Map([
    ...(await pagesIn(docs, "guide", "")),
    ...(await pagesIn(docs, "recipes", "recipes/")),
  ]);
  // What nobody has measured yet keeps nobody from building.
  const measured = await Promise.all(measuredParts.map((part) => part().catch(() => undefined)));
  const pages = [...(await contractPages()), ...measured.filter((part) => part !== undefined)];
  const generated = new Map(pages.map(({ path: name, text }) => [name, text]));
  for (const [name, text] of generated) {
    if (name.startsWith("guide/")) sources.set(path.basename(name), text);
  }
  const include = async (part: string) => generated.get(part.replace("../generated/", "")) ?? "";
  const guides = [...sources].map(async ([name, raw]) => ({
    name,
    ...(await plainPage(raw, docs, include)),
  }));
  return (await Promise.all(guides)).sort(
    (a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name),
  );
}

/** The name of the guide at an address of the site, such as `/guide/retries.md`. */
export function guideAt(address: string): string | undefined {
  const [, folder = "", file = ""] = /^\/(guide\/|recipes\/)([\w-]+\.md)$/.exec(address) ?? [];
  return folder === "" ? undefined : folder.replace("guide/", "") + file;
}

/** Gives each link to a place of the site the address that the function names; without one its words stay. */
export function withLinks(text: string, addressOf: (address: string) => string | undefined): string {
  return text.replaceAll(
    /\[([^\]]*)\]\((\/[^)#]*)(#[^)]*)?\)/g,
    (_, words: string, address: string, anchor = "") => {
      const found = addressOf(address);
      return found === undefined ? words : `[${words}](${found}${found.endsWith(".md") ? anchor : ""})`;
    },
  );
}

/** The way from one file to another. */
export function relative(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}

async function pagesIn(docs: string, folder: string, before: string): Promise<(readonly [string, string])[]> {
  const names = await readdir(path.join(docs, folder));
  const texts = names.map(
    async (name) => [before + name, await readFile(path.join(docs, folder, name), "utf8")] as const,
  );
  return await Promise.all(texts);
}

function rank(name: string): number {
  const first = ["quickstart.md", "recipes/index.md"].indexOf(name);
  return first >= 0 ? first : name.startsWith("recipes/") ? 2 : 3;
}

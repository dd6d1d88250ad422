import { readFile } from "node:fs/promises";
import path from "node:path";
import { relative, relinked } from "./addresses.js";
import { writtenPages } from "./blocks.js";
import { documents } from "./documents.js";
import { plainPage } from "./markdown.js";
import { contractPages } from "./pages.js";

/** A guide or a recipe as Markdown that stands alone. */
export interface PlainGuide {
  /** `quickstart.md`, `recipes/go.md`; `../../CHANGELOG.md` for a document that the package has elsewhere. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

/** Every guide and recipe as the package ships it, what somebody reads first coming first. */
export async function plainGuides(docs: string): Promise<PlainGuide[]> {
  // By what they are named in links: the project's own documents are guides too.
  const sources = new Map<string, { readonly name: string; readonly raw: string; readonly at: string }>();
  // The site alone has a page for contributors, and the figures.
  const left = ["index.md", "guide/contribute.md", "guide/benchmarks.md"];
  for (const page of writtenPages().filter((each) => !left.includes(each))) {
    const raw = await readFile(path.join(docs, page), "utf8");
    sources.set(`docs/${page}`, { name: page.replace(/^guide\//, ""), raw, at: `docs/${page}` });
  }
  const pages = new Map((await contractPages()).map(({ path: name, text }) => [name, text]));
  for (const { file, page } of documents)
    sources.set(file, { name: placeOf(file, page), raw: pages.get(page) ?? "", at: `docs/${page}` });
  const nameOf = (file: string) => (sources.get(file) ?? siteSources(sources, file))?.name;
  const guides = [...sources.values()].map(({ name, raw, at }) => {
    const page = plainPage(raw);
    const text = relinked(page.text, (link) => linkInPackage(link.address, at, name, nameOf));
    return { ...page, name, text };
  });
  return guides.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

// The package has each document once: below its own name, unless it ships only as a guide.
function placeOf(file: string, page: string): string {
  return file.startsWith(".") ? path.basename(page) : `../../${file}`;
}

// The documents' own links are the site's.
function siteSources<T>(sources: ReadonlyMap<string, T>, file: string): T | undefined {
  const document = documents.find(({ page }) => `docs/${page}` === file);
  return sources.get(document?.file ?? "");
}

// A link to what the package's guides do not have becomes its words.
function linkInPackage(
  address: string,
  at: string,
  name: string,
  nameOf: (file: string) => string | undefined,
): { address: string } | undefined {
  if (/^([a-z]+:|#)/.test(address)) return { address };
  const [place = "", anchor] = address.split("#");
  const file = place.startsWith("/") ? `docs${place}` : path.posix.join(path.posix.dirname(at), place);
  const found = nameOf(file);
  if (found === undefined) return undefined;
  return { address: relative(name, found) + (anchor === undefined ? "" : `#${anchor}`) };
}

function rank(name: string): number {
  const first = ["quickstart.md", "recipes/index.md"].indexOf(name);
  return first >= 0 ? first : name.startsWith("recipes/") ? 2 : 3;
}

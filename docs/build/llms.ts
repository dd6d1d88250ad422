import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { documents, publishedForms, relative, relinked, siteAddress } from "./addresses.js";
import { writtenPages } from "./blocks.js";
import { addressOf, type Place } from "./head.js";
import { plainPage } from "./markdown.js";
import { whatTheyDo } from "./operations.js";
import { contractPages } from "./pages.js";

/** One page of the site as Markdown. */
export interface SitePage {
  /** Below docs/, as `guide/quickstart.md`. */
  readonly source: string;
  /** Below site/, as `guide/quickstart.md`. */
  readonly target: string;
}

/** What stands at the top of every llms.txt. */
export const about: string = `# tunerank

> TypeScript client and OpenAPI contract of one HTTP machine-learning service with ${whatTheyDo()}.
`;

/** A part of the navigation: its heading, and the pages below it in their order. */
export interface Section {
  readonly heading: string;
  readonly targets: readonly string[];
}

/** Writes each page's Markdown beside its HTML, llms.txt (their list, in the navigation's order) and llms-full.txt. */
export async function writeLlmsTexts(
  { docs, site, place }: { docs: string; site: string; place: Place },
  pages: readonly SitePage[],
  sections: readonly Section[],
): Promise<void> {
  const listed = new Map<string, string>();
  const texts = new Map<string, string>();
  for (const { source, target } of pages) {
    const file = path.join(docs, source);
    const page = plainPage(await readFile(file, "utf8"));
    const linked = relinked(page.text, (link) => {
      const address = siteAddress(link, `docs/${source}`);
      return address === undefined ? undefined : { address };
    });
    const text = linked.replaceAll("](/", `](${addressOf("", place)}`);
    listed.set(
      target,
      `- [${page.title}](${addressOf(target, place)})${page.description && `: ${page.description}`}`,
    );
    texts.set(target, `<!-- ${addressOf(target, place)} -->\n\n${text}`);
    await mkdir(path.dirname(path.join(site, target)), { recursive: true });
    await writeFile(path.join(site, target), text);
  }
  const named = new Set(sections.flatMap(({ targets }) => targets));
  const others = [...listed.keys()].filter((target) => !named.has(target));
  const ordered = [...sections, { heading: "Also", targets: others }];
  const parts = ordered.map(({ heading, targets }) => part(heading, chosen(listed, targets)));
  const documents = [...publishedForms, "skill.md"].map((name) => `- [${name}](${addressOf(name, place)})`);
  const list = [about, ...parts, part("Documents", documents)].join("\n");
  await writeFile(path.join(site, "llms.txt"), list);
  const whole = ordered.flatMap(({ targets }) => chosen(texts, targets));
  await writeFile(path.join(site, "llms-full.txt"), `${about}\n${whole.join("\n\n---\n\n")}\n`);
}

function part(heading: string, lines: readonly string[]): string {
  return `## ${heading}\n\n${lines.join("\n")}\n`;
}

function chosen(of: ReadonlyMap<string, string>, targets: readonly string[]): string[] {
  return targets.flatMap((target) => of.get(target) ?? []);
}

/** An entry of the sidebar. */
interface Entry {
  readonly text?: string;
  readonly link?: string;
  readonly items?: readonly Entry[];
}

/** The sidebar's parts with the Markdown of their pages, those of folded parts included; the home page is the first. */
export function sectionsOf(sidebar: readonly Entry[]): Section[] {
  const targetsOf = ({ link, items = [] }: Entry): string[] => [
    ...(link === undefined ? [] : [`${link.slice(1).replace(/(^|\/)$/, "$1index")}.md`]),
    ...items.flatMap(targetsOf),
  ];
  return sidebar.map((part, index) => ({
    heading: part.text ?? "",
    targets: [...(index === 0 ? ["index.md"] : []), ...targetsOf(part)],
  }));
}

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

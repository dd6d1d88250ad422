import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { relinked, siteAddress } from "./addresses.js";
import { publishedForms } from "./documents.js";
import { addressOf, type Place } from "./head.js";
import { plainPage } from "./markdown.js";
import { whatTheyDo } from "./operations.js";

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

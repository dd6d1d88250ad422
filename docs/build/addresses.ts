import { readFile } from "node:fs/promises";
import path from "node:path";
import { place as site } from "./head.js";
import { head, type Page } from "./markdown.js";

const root = new URL("../..", import.meta.url);

/** Documents of the project's folder that are pages of the site too. */
export const documents: readonly { file: string; page: string; description: string }[] = [
  {
    file: ".github/SECURITY.md",
    page: "guide/security.md",
    description: "What the client promises about keys, hosts and files, and how to report a flaw.",
  },
  {
    file: "contract/EXTENSIONS.md",
    page: "guide/extensions.md",
    description: "The extensions of the contract, x-retry among them, and the overlays for other generators.",
  },
  {
    file: "CHANGELOG.md",
    page: "guide/changelog.md",
    description: "What changed in each version of the package.",
  },
  {
    file: "contract/CONTRACT-CHANGELOG.md",
    page: "guide/contract-changelog.md",
    description: "What changed in each revision of the contract.",
  },
  {
    file: "contract/conformance/README.md",
    page: "guide/conformance.md",
    description: "What a client does with every answer and every failure, in words and as data.",
  },
];

/** The published forms of the contract. */
export const publishedForms: readonly string[] = [
  "openapi.yaml",
  "openapi.json",
  "openapi-3.0.json",
  "openapi-client.yaml",
  "openapi-client.json",
  "openapi-client-3.0.json",
];

// What the site holds of the files these documents name.
const published: Readonly<Record<string, string>> = {
  ...Object.fromEntries(publishedForms.map((name) => [name, `/${name}`])),
  ...Object.fromEntries(documents.map(({ file, page }) => [file, `/${page}`])),
};

/** Makes pages of the documents, each with the links that work here. */
export async function documentPages(): Promise<Page[]> {
  return await Promise.all(
    documents.map(async ({ file, page, description }) => {
      const text = await readFile(new URL(file, root), "utf8").catch(() => {
        throw new Error(`${file} is missing: the docs have a page of it.`);
      });
      const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
      return { path: page, text: `${head(title, description)}${relink(text, path.posix.dirname(file))}` };
    }),
  );
}

// A link to a file that the site lacks becomes its name.
function relink(text: string, folder: string): string {
  return text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#]+)(#[^)]*)?\)/g,
    (_, label: string, target: string, anchor = "") => {
      const file = path.posix.join(folder, target);
      const page = published[file] ?? /^contract(\/conformance\/.*\.json)$/.exec(file)?.[1];
      return page === undefined ? label : `[${label}](${page}${page.endsWith(".md") ? anchor : ""})`;
    },
  );
}

// A guide's links are those of the repository, so that they work where it is read there; the site and the package have theirs.

/** A link as it stands in a guide; the title names a page that only the site has. */
export interface Link {
  readonly address: string;
  readonly title?: string | undefined;
}

// The words may hold brackets of their own; VitePress's `{target}` goes with the link.
const links = /(!?)\[((?:[^[\]]|\[[^\]]*\]|\\[[\]])*)\]\(([^)\s]+)(?: "([^"]*)")?\)(?:\{target="\w+"\})?/g;
const isElsewhere = (address: string): boolean => /^([a-z]+:|#)/.test(address);

// What the site shows under another address than the repository does, by the file's path below the project's folder.
const onSite: ReadonlyMap<string, string> = new Map([
  ...documents.map(({ file, page }) => [file, `/${page}`] as const),
  ["openapi.yaml", "/openapi.yaml"],
]);
// Pages that only the site has, long tables of these data.
const dataOf: ReadonlyMap<string, string> = new Map([
  ["/guide/decision-table.md", "contract/conformance/retries.json"],
  ["/guide/error-bodies.md", "contract/conformance/errors.json"],
]);
const inRepository = new Map([...onSite].map(([file, address]) => [address, file]));

/** A link of the site as it stands in a guide, which is at `from` below the project's folder. */
export function repositoryLink(address: string, from: string): Link {
  if (isElsewhere(address) || !address.startsWith("/")) return { address };
  const [place = "", anchor] = address.split("#");
  const end = anchor === undefined ? "" : `#${anchor}`;
  const to = (file: string): string => relative(from, file);
  const known = inRepository.get(place);
  if (known !== undefined) return { address: to(known) + end };
  const data = dataOf.get(place);
  if (data !== undefined) return { address: to(data), title: place.slice(1) + end };
  if (/^\/(guide|recipes)\//.test(place)) return { address: to(`docs${place}`) + end };
  if (/^\/conformance\/.*json$/.test(place)) return { address: to(`contract${place}`) };
  if (/^\/[\w/-]+\.svg$/.test(place)) return { address: to(`docs/public${place}`) };
  return { address: to(madeOf(place)), title: place.slice(1) + end };
}

// What a page of the site is made of: the nearest thing that the repository has.
function madeOf(place: string): string {
  if (place.startsWith("/llms")) return "docs";
  if (place.startsWith("/api/")) return "src/index.ts";
  if (place.startsWith("/overlays/")) return "contract/EXTENSIONS.md";
  return place.startsWith("/contract/") ? "contract/CONTRACT-CHANGELOG.md" : "openapi.yaml";
}

/** The site's address of a link in a page at `from` below the project's folder; undefined where nobody has one. */
export function siteAddress({ address, title }: Link, from: string): string | undefined {
  if (title !== undefined) return `/${title}`;
  if (address.startsWith("/") || isElsewhere(address) || !/^docs\/(guide|recipes|index\.md)/.test(from))
    return address;
  const [place = "", anchor] = address.split("#");
  const file = path.posix.join(path.posix.dirname(from), place);
  const end = anchor === undefined ? "" : `#${anchor}`;
  const published = onSite.get(file) ?? /^contract(\/conformance\/.*\.json)$/.exec(file)?.[1];
  if (published !== undefined) return published + end;
  return /^docs\/(public\/)?(.*)$/.exec(file)?.[2]?.replace(/^/, "/").concat(end) ?? atRepository(file);
}

// What only the repository has. Its address is known to whoever publishes the site.
function atRepository(file: string): string | undefined {
  if (site.repository === "") return undefined;
  if (file === "README.md") return site.repository;
  const isForm = file.startsWith(".github/ISSUE_TEMPLATE");
  return `${site.repository}/${isForm ? "issues/new/choose" : `blob/HEAD/${file}`}`;
}

/** Gives each link of a text another; where there is none, its words stay. */
export function relinked(text: string, linkOf: (link: Link) => Link | undefined): string {
  return outsideBlocks(text, (prose) =>
    prose.replaceAll(links, (_, mark: string, words: string, address: string, title?: string) => {
      const link = linkOf({ address, title });
      if (link === undefined) return mark === "" ? words : "";
      return `${mark}[${words}](${link.address}${link.title === undefined ? "" : ` "${link.title}"`})`;
    }),
  );
}

/** The way from one file to another. */
export function relative(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}

function outsideBlocks(text: string, change: (prose: string) => string): string {
  return text
    .split(/^(```.*?^```$)/ms)
    .map((part) => (part.startsWith("```") ? part : change(part)))
    .join("");
}

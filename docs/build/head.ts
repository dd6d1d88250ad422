import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

// What a page's head says to whoever lists, links or reads it: search engines, messengers, assistants.

/** A tag of the head, as VitePress takes it. */
export type HeadTag = [name: string, attributes: Record<string, string>];

/** Where the site stands. `origin` is known only where it is published: `https://docs.example.com`. */
export interface Place {
  readonly base: string;
  readonly origin: string;
  /** The address of the repository, or "" where nobody has said it. */
  readonly repository: string;
}

/** The package's own words about itself. */
export const packageFacts: {
  readonly version: string;
  readonly license: string;
  readonly "x-contract-revision": string;
  readonly repository?: { readonly url: string };
} = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

export const place: Place = {
  base: process.env.DOCS_BASE ?? "/",
  origin: (process.env.DOCS_ORIGIN ?? "").replace(/\/+$/, ""),
  repository: (process.env.DOCS_REPOSITORY ?? packageFacts.repository?.url ?? "").replace(
    /^git\+|\.git$|\/+$/g,
    "",
  ),
};

/** A page's address: absolute where the origin is known, from the host's root elsewhere. */
export function addressOf(file: string, { base, origin }: Place): string {
  return `${origin}${base}${file.replace(/(^|\/)index\.html$/, "$1")}`;
}

/** The tags of one page; `path` is its Markdown's, below the site: `guide/quickstart.md`. */
export function headOf(
  { path, title, description }: { path: string; title: string; description: string },
  where: Place,
): HeadTag[] {
  if (path === "404.md") return [["meta", { name: "robots", content: "noindex" }]];
  const address = addressOf(path.replace(/\.md$/, ".html"), where);
  const properties = {
    "og:type": path === "index.md" ? "website" : "article",
    "og:site_name": "tunerank",
    "og:title": title,
    "og:description": description,
    ...(where.origin && { "og:url": address }),
    "og:image": addressOf("card.png", where),
    "og:image:width": "1200",
    "og:image:height": "630",
    "og:image:alt": "tunerank: a TypeScript client that says whether your call ran",
  };
  return [
    ...(where.origin ? [["link", { rel: "canonical", href: address }] satisfies HeadTag] : []),
    ["link", { rel: "alternate", type: "text/markdown", href: addressOf(path, where) }],
    ...Object.entries(properties).map(([property, content]): HeadTag => ["meta", { property, content }]),
    ["meta", { name: "twitter:card", content: "summary_large_image" }],
  ];
}

/** The tags that every page has. */
export const sharedHead: HeadTag[] = [
  ["link", { rel: "icon", type: "image/svg+xml", href: `${place.base}icon.svg` }],
  ["link", { rel: "icon", type: "image/png", sizes: "32x32", href: `${place.base}icon-32.png` }],
  ["link", { rel: "apple-touch-icon", href: `${place.base}icon-180.png` }],
  ["link", { rel: "alternate", type: "application/rss+xml", href: `${place.base}changes.xml` }],
  ["meta", { name: "theme-color", content: "#0d6b5c" }],
];

/**
 * A built page, put right for a slow line: the style alone is waited for, the scripts come after it. VitePress writes
 * an empty style for icons that nothing here uses, and a page for lost addresses that is blank without JavaScript.
 */
export function finishedHtml(html: string, page: string, where: Place): string {
  const light = html
    .replace(/\n\s*<link rel="preload stylesheet" href="[^"]*vp-icons\.css"[^>]*>/, "")
    .replaceAll(/<link rel="modulepreload"/g, '<link rel="modulepreload" fetchpriority="low"')
    .replace(/<script type="module" src=/, '<script type="module" fetchpriority="low" src=');
  return page === "404.md" ? light.replace("</body>", `${lostPage(where)}</body>`) : light;
}

function lostPage({ base }: Place): string {
  return `<noscript><main class="vp-doc home"><h1>There is no such page</h1><p>It may have moved. Go on at the <a href="${base}guide/quickstart.html">Quickstart</a>, or look through <a href="${base}llms.txt">all pages</a>.</p></main></noscript>`;
}

// A feed of both changelogs, in RSS: an entry for each version of the package and each revision of the contract.

const logs = [
  ["CHANGELOG.md", "guide/changelog.html", "tunerank"],
  ["contract/CONTRACT-CHANGELOG.md", "guide/contract-changelog.html", "Contract"],
] as const;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The feed, in the order of the changelogs; what is not released yet is none of it. */
export async function changelogFeed(place: Place): Promise<string> {
  const items = await Promise.all(
    logs.map(async ([file, page, name]) => {
      const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
      const link = addressOf(page, place);
      return text
        .split(/^## (?=\d)/m)
        .slice(1)
        .map((part) => {
          const [version = "", ...words] = part.split("\n");
          return `<item><title>${name} ${version}</title><link>${link}</link><guid isPermaLink="false">${name}-${version}</guid><description>${escaped(words.join("\n").trim())}</description></item>`;
        });
    }),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>tunerank</title><link>${addressOf("", place)}</link>
<description>Changes of the package and of the contract</description>
${items.flat().join("\n")}
</channel></rss>
`;
}

// What a page's head says to whoever lists, links or reads it: search engines, messengers, assistants.

/** A tag of the head, as VitePress takes it. */
export type HeadTag = [name: string, attributes: Record<string, string>];

/** Where the site stands. `origin` is known only where it is published: `https://docs.example.com`. */
export interface Place {
  readonly base: string;
  readonly origin: string;
}

export const place: Place = {
  base: process.env.DOCS_BASE ?? "/",
  origin: (process.env.DOCS_ORIGIN ?? "").replace(/\/+$/, ""),
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
    "og:image:alt": "tunerank: four operations, one honest error",
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
  ["meta", { name: "theme-color", content: "#0d6b5c" }],
];

/** A generated API page says nothing of its own about itself. */
export function ownWords(path: string): { title?: string; description?: string } {
  const [, entry] = /^api\/(tunerank.*)\.md$/.exec(path) ?? [];
  if (entry) {
    const description = `Everything that ${entry} exports, with its types, units and defaults.`;
    return { title: `API of ${entry}`, description };
  }
  return path.startsWith("api/")
    ? { description: "The entries of the package, with what each exports." }
    : {};
}

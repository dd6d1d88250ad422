import { fileURLToPath } from "node:url";
import { defineConfig, type MarkdownRenderer } from "vitepress";
import { printedNote } from "../build/printed.js";
import { sidebar } from "./sidebar.js";

const built = (file: string): string => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));

const base = process.env.DOCS_BASE ?? "/";

export default defineConfig({
  title: "tunerank",
  description:
    "TypeScript client and OpenAPI contract of one machine-learning service: resume, rerank, scale, upload.",
  lang: "en",
  base,
  outDir: "../site",
  srcExclude: ["generated/parts/**", "snippets/**", "build/**"],
  rewrites: {
    "generated/:section/:page.md": ":section/:page.md",
    "generated/api/tunerank/:page.md": "api/tunerank/:page.md",
    "generated/api/tunerank/:entry/:page.md": "api/tunerank/:entry/:page.md",
  },
  lastUpdated: false,
  // The lab runs what the package ships.
  vite: {
    resolve: {
      alias: [
        { find: /^tunerank$/, replacement: built("index.web.js") },
        { find: /^tunerank\/testing$/, replacement: built("testing/index.js") },
      ],
    },
  },
  // Written beside the pages, after them: docs/build/checkLinks.ts looks at these addresses.
  ignoreDeadLinks: [/^\/llms(-full)?\.txt$/],
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }],
    ["meta", { name: "theme-color", content: "#0d6b5c" }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(markdown) {
      addBaseToTargets(markdown);
      nameWhoAnswered(markdown);
    },
  },
  themeConfig: {
    siteTitle: "tunerank",
    nav: [
      { text: "Guide", link: "/guide/quickstart", activeMatch: "^/guide/" },
      { text: "HTTP reference", link: "/reference/", activeMatch: "^/(reference|codes|enums)/" },
      { text: "TypeScript API", link: "/api/", activeMatch: "^/api/" },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: {
      provider: "local",
      options: {
        translations: { button: { buttonAriaLabel: "Search" } },
        miniSearch: {
          searchOptions: {
            boost: { title: 6, titles: 2, text: 1 },
            fuzzy: 0.1,
            prefix: true,
            // An operation's name is found at its guide, a code at its page, before all the places that mention them.
            boostDocument: (id: string) => {
              if (/codes\/|guide\/(rerank|upload|scale|resume)\./.test(id)) return 5;
              return /changelog|\/api\//.test(id) ? 0.5 : 1;
            },
          },
        },
      },
    },
    docFooter: { prev: "Before", next: "Next" },
    externalLinkIcon: false,
  },
});

// Before each recorded output, who answered when it was recorded.
function nameWhoAnswered(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { src: [file = ""] = [] } = tokens[index] as unknown as { readonly src?: readonly string[] };
    const note = printedNote(file);
    const shown = fence?.(tokens, index, options, env, self) ?? "";
    return note === undefined ? shown : `<p class="printed">${note}</p>\n${shown}`;
  };
}

// VitePress leaves a link with a target as it is, without the site's base.
function addBaseToTargets(markdown: MarkdownRenderer): void {
  const open = markdown.renderer.rules.link_open;
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const address = token?.attrGet("href") ?? "";
    if (token?.attrGet("target") && address.startsWith("/")) token.attrSet("href", base + address.slice(1));
    return open?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  };
}

import { fileURLToPath } from "node:url";
import { defineConfig, type MarkdownEnv, type MarkdownRenderer } from "vitepress";
import { siteAddress } from "../build/addresses.js";
import { finishedHtml, headOf, packageFacts, place, sharedHead } from "../build/head.js";
import { arrange } from "./arrange.js";
import { missing, searchOptions } from "./search.js";
import { sidebar } from "./sidebar.js";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

const { base } = place;

// VitePress would add ".html" to it.
const isFile = /^\/.*SHA256SUMS$/;

// Parts of the theme that no page here shows: their code and styles would be in every page.
const unused =
  /^.*\/(VP(Home|Footer|NavBarSocialLinks|NavScreenSocialLinks|Features|SocialLinks?|Sponsors|CarbonAds|AlgoliaSearchBox|NavBarTranslations|NavScreenTranslations|NavBarMenuGroup|NavBarExtra|NavScreenMenuGroup|Badge|DocFooterLastUpdated|TeamMembers|TeamPage|TeamPageTitle|TeamPageSection|DocAsideSponsors|DocAsideCarbonAds|HomeContent|HomeFeatures|HomeHero|HomeSponsors)\.vue|vp-sponsor\.css)$/;

// The theme's search has links within options, within a button: a result is the option itself here, the frame a landmark.
const rolesInSearch: readonly [RegExp, string][] = [
  [/<kbd /g, '<kbd role="img" '],
  [/role="button"\s+:aria-owns[^>]*?aria-haspopup="listbox"/, 'role="search"'],
  [/:id="'localsearch-item-' \+ index"\s+:aria-selected="[^"]*"\s+role="option"/, 'role="presentation"'],
  [
    /:aria-label="\[\.\.\.p\.titles[^"]*"/,
    `:id="'localsearch-item-' + index" :aria-selected="selectedIndex === index" role="option"`,
  ],
];

export default defineConfig({
  title: "tunerank",
  description:
    "TypeScript client and OpenAPI contract of one machine-learning service: resume, rerank, scale, upload.",
  lang: "en",
  base,
  outDir: "../site",
  srcExclude: ["generated/parts/**", "build/**"],
  rewrites: {
    "generated/:section/:page.md": ":section/:page.md",
    "generated/api/:module/:page.md": "api/:module/:page.md",
    "generated/api/tunerank/:entry/:page.md": "api/tunerank/:entry/:page.md",
  },
  lastUpdated: false,
  // It holds absolute addresses only: where the site's own is known.
  ...(place.origin && { sitemap: { hostname: `${place.origin}${place.base}` } }),
  // What a reader may go to next is not sent before.
  router: { prefetchLinks: false },
  vite: {
    plugins: [
      {
        name: "roles-in-search",
        enforce: "pre",
        transform: (code, file) =>
          /SearchBox\.vue$/.test(file)
            ? rolesInSearch.reduce((text, role) => text.replace(...role), code)
            : null,
      },
    ],
    // Nothing here is written with Vue's older API: its code would be in every page.
    define: { __VUE_OPTIONS_API__: false },
    resolve: {
      alias: [{ find: unused, replacement: fileURLToPath(new URL("theme/notShown.ts", import.meta.url)) }],
    },
  },
  // Written beside the pages, after them: checks/site looks at these addresses.
  ignoreDeadLinks: [/^\/llms(-full)?\.txt$/],
  head: sharedHead,
  transformHead: ({ pageData, title, description }) =>
    headOf({ path: pageData.relativePath, title, description }, place),
  buildEnd() {
    if (missing.length > 0) throw new Error(`No page has these headings: ${missing.join(", ")}`);
  },
  transformHtml: (html, _file, { page }) => finishedHtml(html, page, place),
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (markdown) => {
      useLinksOfSite(markdown);
      arrange(markdown);
    },
  },
  themeConfig: {
    logo: { src: "/icon.svg", alt: "", width: 24, height: 24 },
    siteTitle: "tunerank",
    nav: [
      { text: "Guide", link: "/guide/quickstart", activeMatch: "^/guide/" },
      { text: "Recipes", link: "/recipes/", activeMatch: "^/recipes/" },
      { text: "HTTP reference", link: "/reference/", activeMatch: "^/(reference|codes|enums)/" },
      { text: "TypeScript API", link: "/api/", activeMatch: "^/api/" },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: searchOptions },
    docFooter: { prev: false, next: "Next" },
    externalLinkIcon: false,
    facts: {
      version: packageFacts.version,
      revision: packageFacts["x-contract-revision"],
      license: packageFacts.license,
      repository: place.repository,
    },
  },
});

// A guide's links are the repository's. VitePress leaves a link with a target as it is, without the site's base.
function useLinksOfSite(markdown: MarkdownRenderer): void {
  const { link_open: open, image } = markdown.renderer.rules;
  const readdress = (
    name: "href" | "src",
    token: Token | undefined,
    env: MarkdownEnv,
  ): string | undefined => {
    const [address = "", title] = [token?.attrGet(name) ?? "", token?.attrGet("title") ?? undefined];
    const given = siteAddress({ address, title }, `docs/${env.relativePath}`);
    // A picture that only the repository has is taken from there into the site.
    const found = name === "src" && !given?.startsWith("/") ? address : given;
    token?.attrSet(name, found ?? "");
    if (token?.attrs && title !== undefined) token.attrs = token.attrs.filter(([each]) => each !== "title");
    return found;
  };
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const address = readdress("href", token, env);
    // Of what has no address, the words remain.
    if (address === undefined) {
      const close = tokens.slice(index).find(({ type }) => type === "link_close");
      if (close) close.meta = { isWords: true };
      return "";
    }
    if (isFile.test(address)) token?.attrSet("target", "_self");
    if (token?.attrGet("target") && address.startsWith("/")) token.attrSet("href", base + address.slice(1));
    return open?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  };
  markdown.renderer.rules.link_close = (tokens, index, options, _env, self) =>
    tokens[index]?.meta?.isWords ? "" : self.renderToken(tokens, index, options);
  markdown.renderer.rules.image = (tokens, index, options, env, self) => {
    readdress("src", tokens[index], env);
    return image?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  };
}

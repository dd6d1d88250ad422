import { writeFile } from "node:fs/promises";
import path from "node:path";
import { addressOf, type Place } from "./head.js";

/** Writes robots.txt, and the site map, which holds absolute addresses only: where the site's own is known. */
export async function writeForCrawlers(site: string, pages: readonly string[], place: Place): Promise<void> {
  const robots = "User-agent: *\nAllow: /\n";
  const map = place.origin && `\nSitemap: ${addressOf("sitemap.xml", place)}\n`;
  await writeFile(path.join(site, "robots.txt"), robots + map);
  if (map) await writeFile(path.join(site, "sitemap.xml"), siteMap(pages, place));
}

/** The map of the pages whose Markdown is named. */
export function siteMap(pages: readonly string[], place: Place): string {
  const entries = pages.map(
    (page) => `<url><loc>${addressOf(page.replace(/\.md$/, ".html"), place)}</loc></url>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join("\n")}
</urlset>
`;
}

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Every link, image and script of the site that leads nowhere within it, with the pages that have it. */
export async function brokenLinks(site: string, base: string): Promise<Map<string, string[]>> {
  const files = new Set(
    (await readdir(site, { recursive: true })).map((file) => file.split(path.sep).join("/")),
  );
  const pages = [...files].filter((file) => file.endsWith(".html"));
  const html = new Map<string, string>();
  for (const page of pages) html.set(page, await readFile(path.join(site, page), "utf8"));
  const anchors = new Map([...html].map(([page, text]) => [page, idsOf(text)]));
  const broken = new Map<string, string[]>();
  for (const [page, text] of html) {
    for (const address of addressesOf(text)) {
      const { pathname, hash } = new URL(address, `https://site.example${base}${page}`);
      const file = fileOf(pathname.slice(base.length), files);
      const known = anchors.get(file ?? "");
      const lost = hash !== "" && known !== undefined && !known.has(decodeURIComponent(hash.slice(1)));
      if (!pathname.startsWith(base) || file === undefined || lost) {
        broken.set(address, [...(broken.get(address) ?? []), page]);
      }
    }
  }
  return broken;
}

function addressesOf(html: string): string[] {
  const found = [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, address = ""]) =>
    address.replaceAll("&amp;", "&"),
  );
  return [...new Set(found)].filter((address) => !/^[a-z][a-z0-9+.-]*:/i.test(address));
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id.replaceAll("&amp;", "&")));
}

function fileOf(pathname: string, files: ReadonlySet<string>): string | undefined {
  const name = decodeURIComponent(pathname);
  if (name === "" || name.endsWith("/"))
    return files.has(`${name}index.html`) ? `${name}index.html` : undefined;
  return files.has(name) ? name : undefined;
}

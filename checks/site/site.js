// Serves the built site on a free port, as a host of static pages does.
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { searchOptions } from "../../docs/.vitepress/search.ts";
import MiniSearch from "../../docs/node_modules/minisearch/dist/es/index.js";

/** Where `npm run docs` writes. */
export const folder = fileURLToPath(new URL("../../site/", import.meta.url));

const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The addresses of the pages, below the site's own. */
export async function pagesOf() {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.endsWith(".html")).sort();
}

/** What the search finds for a text, the best first, by the index and the options that VitePress joins in a page. */
export async function searcher() {
  const chunks = `${folder}assets/chunks/`;
  const indexFile = (await readdir(chunks)).find((name) => name.startsWith("@localSearchIndexroot"));
  const { options, searchOptions: asking } = searchOptions.miniSearch;
  const index = MiniSearch.loadJSON((await import(`${chunks}${indexFile}`)).default, {
    storeFields: ["title", "titles"],
    ...options,
    searchOptions: asking,
  });
  return (query) =>
    index.search(query).map(({ id }) => {
      const [page, anchor] = id.slice(1).replace(".html", "").split(/(?=#)/);
      return { page, anchor };
    });
}

// As GitHub Pages does: text goes gzipped to those who accept it, and a lost address has the page for it.
const gzipped = new Map();
function compressed(name, body) {
  if (!gzipped.has(name)) gzipped.set(name, gzipSync(body));
  return gzipped.get(name);
}

/** A file as the host sends it: its status, type, and bytes, gzipped where it is text. */
export async function responseFor(name, accepts) {
  const isThere = await stat(path.join(folder, name)).then(
    (found) => found.isFile(),
    () => false,
  );
  const file = isThere ? name : "404.html";
  const type = path.extname(file);
  const body = await readFile(path.join(folder, file));
  const isText = type !== ".png" && type !== ".woff2" && /gzip/.test(accepts);
  const headers = { "content-type": types[type] ?? "text/plain; charset=utf-8" };
  if (isText) headers["content-encoding"] = "gzip";
  return { status: isThere ? 200 : 404, headers, body: isText ? compressed(file, body) : body };
}

/** A server of the site. */
export async function serveSite() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = path.normalize(decodeURIComponent(pathname)).replace(/\/$/, "/index.html");
    const { status, headers, body } = await responseFor(name, request.headers["accept-encoding"] ?? "");
    response.writeHead(status, headers).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

// Serves the built site on a free port, as a host of static pages does.
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Where `npm run docs` writes. */
export const folder = fileURLToPath(new URL("../../site/", import.meta.url));

const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** The addresses of the pages, below the site's own. */
export async function pagesOf() {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.endsWith(".html")).sort();
}

/** A server of the site. */
export async function serveSite() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = path.normalize(decodeURIComponent(pathname)).replace(/\/$/, "/index.html");
    try {
      const body = await readFile(path.join(folder, name));
      response.writeHead(200, { "content-type": types[path.extname(name)] ?? "text/plain; charset=utf-8" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
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

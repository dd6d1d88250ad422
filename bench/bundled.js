// What a user's program is with a client bundled into it: `process start to first response` reads one file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Bundles a program that calls each client once, and gives `use` their files by the clients' names. */
export async function withBundled(clients, entry, use) {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-bundled-"));
  try {
    const files = {};
    for (const client of clients) {
      files[client] = path.join(folder, `${client}.mjs`);
      await bundle(client, entry, files[client]);
    }
    return await use(files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const programs = {
  undiciPool: `import { open } from "./clients/undiciPool.js";`,
  tunerank: (entry) => `import { createClient } from ${JSON.stringify(entry)};
const open = (baseUrl) => createClient({ baseUrl, apiKey: "bench-key" });`,
};

async function bundle(client, entry, outfile) {
  const program = programs[client];
  const contents = `import { small } from "./bodies.js";
${typeof program === "string" ? program : program(entry)}
const response = await open(process.argv[2]).rerank(small);
process.exit(response ? 0 : 1);`;
  // undici is CommonJS, and requires Node's own modules.
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    stdin: { contents, resolveDir: here },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: { js },
    outfile,
    logLevel: "error",
  });
}

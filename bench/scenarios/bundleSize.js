import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

export const title = "Browser bundle of the whole client";
export const unit = "bytes";

const dist = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

/** What a page loads with its first script: what is imported when it is used comes in files of its own. */
export async function measure({ entry: forNode = dist } = {}) {
  // A build that has no file of its own for the web chooses by conditions.
  const forTheWeb = forNode.replace(/index\.js$/, "index.web.js");
  const entry = existsSync(forTheWeb) ? forTheWeb : forNode;
  const { outputFiles, metafile } = await build({
    entryPoints: { index: entry },
    bundle: true,
    splitting: true,
    outdir: "bundle",
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const first = loadedFirst(metafile, path.join("bundle", "index.js"));
  const code = Buffer.concat(
    outputFiles
      .filter((file) => first.has(path.relative(process.cwd(), file.path)))
      .map(({ contents }) => contents),
  );
  return { minified: [code.byteLength], "minified and gzipped": [gzipSync(code, { level: 9 }).byteLength] };
}

function loadedFirst({ outputs }, file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const { kind, path: imported } of outputs[file].imports) {
    if (kind === "import-statement") loadedFirst({ outputs }, imported, found);
  }
  return found;
}

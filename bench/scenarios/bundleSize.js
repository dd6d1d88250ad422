import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

export const title = "Browser bundle";
export const unit = "bytes";

const dist = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

/** Everything that `tunerank` exports: what a page loads with its first script, and all of it in one file. */
export async function measure({ entry: forNode = dist } = {}) {
  // A build that has no file of its own for the web chooses by conditions.
  const forTheWeb = forNode.replace(/index\.js$/, "index.web.js");
  const entry = existsSync(forTheWeb) ? forTheWeb : forNode;
  const first = await bundle(entry, true);
  const whole = await bundle(entry, false);
  return {
    "loaded first, minified": [first.byteLength],
    "loaded first, minified and gzipped": [gzipSync(first, { level: 9 }).byteLength],
    "all in one file, minified": [whole.byteLength],
    "all in one file, minified and gzipped": [gzipSync(whole, { level: 9 }).byteLength],
  };
}

// Where bundles are split, what is imported when it is used comes in files of its own.
async function bundle(entry, splitting) {
  const { outputFiles, metafile } = await build({
    entryPoints: { index: entry },
    bundle: true,
    splitting,
    outdir: "bundle",
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const first = loadedFirst(metafile, path.join("bundle", "index.js"));
  const loaded = outputFiles.filter((file) => first.has(path.relative(process.cwd(), file.path)));
  return Buffer.concat(loaded.map(({ contents }) => contents));
}

function loadedFirst({ outputs }, file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const { kind, path: imported } of outputs[file].imports) {
    if (kind === "import-statement") loadedFirst({ outputs }, imported, found);
  }
  return found;
}

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

export const title = "Browser bundle of the whole client";
export const unit = "bytes";

const dist = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

export async function measure({ entry = dist } = {}) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "error",
  });
  const code = outputFiles[0].contents;
  return { minified: [code.byteLength], "minified and gzipped": [gzipSync(code, { level: 9 }).byteLength] };
}

import { type BuildOptions, build } from "esbuild";
import { browserFile, type Entry, entries, stemOf } from "./entries.js";
import { joined, sharingOne } from "./late.js";
import { builtinsAsImports, withoutDebug, withoutSourceMaps } from "./nodeModules.js";

type Platform = "node" | "web";

const plugins = [builtinsAsImports, withoutDebug, withoutSourceMaps];

const shared: BuildOptions = {
  bundle: true,
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  external: ["node:*"],
  sourcemap: true,
  logLevel: "warning",
};

/** Writes every entry as an ES module and as CommonJS, and the one file for browsers. */
export async function writeLibrary(root: string, dist: string): Promise<void> {
  const options = { ...shared, absWorkingDir: root };
  for (const entry of entries) {
    const platforms: Platform[] = entry.platforms ? ["node", "web"] : ["node"];
    for (const platform of platforms) {
      const input = inputOf(entry, platform);
      await build({ ...options, ...input, ...esModules(root, platform), outdir: dist });
      await build({ ...options, ...input, ...commonJs, outdir: `${dist}/cjs` });
    }
  }
  await build({
    ...options,
    entryPoints: ["src/index.ts"],
    conditions: conditionsOf("web"),
    plugins: [...plugins, joined],
    format: "esm",
    minify: true,
    outfile: `${dist}/${browserFile}`,
  });
}

function inputOf(entry: Entry, platform: Platform): BuildOptions {
  const suffix = platform === "web" ? ".web" : "";
  return {
    entryPoints: { [stemOf(entry) + suffix]: `src/${entry.source}` },
    conditions: entry.platforms ? conditionsOf(platform) : [],
  };
}

// On Node each file read at start costs about a millisecond, so there what is loaded when it is used is part of it.
function esModules(root: string, platform: Platform): BuildOptions {
  const late = platform === "web" ? sharingOne(`${root}/src/index.ts`, "createClient") : joined;
  return { format: "esm", splitting: true, chunkNames: "chunks/[name]", plugins: [...plugins, late] };
}

// Jest's CommonJS has no import(): it becomes a require() at the same place. For Node, esbuild notes the names of the
// exports, by which an `import` of CommonJS finds them.
const commonJs: BuildOptions = {
  format: "cjs",
  platform: "node",
  supported: { "dynamic-import": false },
  plugins: [...plugins, joined],
};

// package.json says what "#platform" is under each.
function conditionsOf(platform: Platform): string[] {
  return platform === "web" ? ["tunerank-source", "browser"] : ["tunerank-source"];
}

import path from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { browserFile, type Entry, entries, stemOf } from "./entries.js";
import { builtinsAsImports, withoutDebug, withoutSourceMaps } from "./nodeModules.js";

type Platform = "node" | "web";

const shared: BuildOptions = {
  bundle: true,
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  // Temporal's packages are peers: a worker and its activities have to share one copy of them.
  external: ["node:*", "@temporalio/*"],
  plugins: [builtinsAsImports, withoutDebug, withoutSourceMaps],
  sourcemap: true,
  logLevel: "warning",
};

/** Writes every entry as an ES module and as CommonJS, and the one file for browsers. */
export async function writeLibrary(root: string, dist: string): Promise<void> {
  const options = { ...shared, absWorkingDir: root };
  for (const entry of entries) {
    const platforms: Platform[] = entry.platforms ? ["node", "web"] : ["node"];
    for (const platform of platforms) {
      await writeModules(options, entry, platform, dist);
      await build({ ...options, ...commonJs(entry, platform), outdir: `${dist}/cjs` });
    }
  }
  await build({
    ...options,
    entryPoints: ["src/index.ts"],
    conditions: conditionsOf("web"),
    format: "esm",
    minify: true,
    outfile: `${dist}/${browserFile}`,
  });
}

// One file for each entry and platform: on Node each one read at start costs about a millisecond.
function input(
  entry: Entry,
  platform: Platform,
): { readonly entryPoints: Record<string, string>; readonly conditions: string[] } {
  return {
    entryPoints: { [stemOf(entry) + suffixOf(platform)]: `src/${entry.source}` },
    conditions: entry.platforms ? conditionsOf(platform) : [],
  };
}

// What is imported only when it is needed is a file of its own. With esbuild's splitting the two would share a third,
// which every start would read.
async function writeModules(
  options: BuildOptions,
  entry: Entry,
  platform: Platform,
  dist: string,
): Promise<void> {
  const { entryPoints, conditions } = input(entry, platform);
  const suffix = suffixOf(platform);
  const late: Record<string, string> = {};
  const plugins = [...(options.plugins ?? []), apart(path.posix.dirname(entry.source), suffix, late)];
  const format = "esm";
  await build({ ...options, entryPoints, conditions, format, plugins, outdir: dist });
  if (Object.keys(late).length > 0) {
    await build({ ...options, entryPoints: late, conditions, format, outdir: dist });
  }
}

function apart(folder: string, suffix: string, late: Record<string, string>): Plugin {
  return {
    name: "apart",
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, path: to, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const name = `chunks/${path.basename(to, ".js")}${suffix}`;
        late[name] = path.join(resolveDir, to.replace(/\.js$/, ".ts"));
        return { path: `./${path.posix.relative(folder, `${name}.js`)}`, external: true };
      });
    },
  };
}

// Jest's CommonJS has no import(): it becomes a require() at the same place. For Node, esbuild notes the names of the
// exports, by which an `import` of CommonJS finds them.
function commonJs(entry: Entry, platform: Platform): BuildOptions {
  const supported = { "dynamic-import": false };
  return { ...input(entry, platform), format: "cjs", platform: "node", supported };
}

function suffixOf(platform: Platform): string {
  return platform === "web" ? ".web" : "";
}

// package.json says what "#platform" is under each.
function conditionsOf(platform: Platform): string[] {
  return platform === "web" ? ["tunerank-source", "browser"] : ["tunerank-source"];
}

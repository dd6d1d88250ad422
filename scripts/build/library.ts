import path from "node:path";
import { type BuildOptions, build } from "esbuild";
import { browserFile, type Entry, entries, stemOf } from "./entries.js";
import { apart, besideBulk, joined, sharingOne } from "./late.js";
import { builtinsAsImports, withoutDebug } from "./nodeModules.js";

type Platform = "node" | "server" | "web";

const plugins = [builtinsAsImports, withoutDebug, besideBulk];

const shared: BuildOptions = {
  bundle: true,
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  // Temporal's packages are peers: a worker and its activities have to share one copy of them.
  external: ["node:*", "@temporalio/*"],
  // The sources are not in the package, and the modules are readable themselves: no source maps.
  metafile: true,
  // The same number, in fewer bytes.
  define: { "Number.POSITIVE_INFINITY": "Infinity" },
  logLevel: "warning",
};

/**
 * Writes every entry as an ES module and as CommonJS, and the one file for browsers.
 * @returns The files that they are made of
 */
export async function writeLibrary(root: string, dist: string): Promise<ReadonlySet<string>> {
  const inputs = new Set<string>();
  const write = async (...parts: BuildOptions[]) => {
    const { metafile } = await build(Object.assign({ absWorkingDir: root, outdir: dist }, shared, ...parts));
    for (const file of Object.keys(metafile?.inputs ?? {})) inputs.add(file);
  };
  for (const entry of entries) {
    const platforms: Platform[] = entry.platforms ? ["node", "server", "web"] : ["node"];
    for (const platform of platforms) {
      const input = inputOf(entry, platform);
      await write(input, platform === "web" ? severalFiles(root) : oneFile);
      // Whoever requires it elsewhere than on Node bundles it, or has its ES module beside it.
      const dense = platform === "node" ? {} : { minify: true };
      await write(input, commonJs, { outdir: `${dist}/cjs` }, dense);
    }
  }
  await write(oneFile, { entryPoints: searchPart, plugins: [...plugins, joined()] });
  await write(commonJs, { entryPoints: searchPart, outdir: `${dist}/cjs` });
  const stdin = { contents: proxyAgent, resolveDir: root, sourcefile: "scripts/build/library.ts" };
  await write(oneFile, { stdin, entryNames: "chunks/proxies", plugins });
  await write(oneFile, {
    entryPoints: { [path.parse(browserFile).name]: "src/index.ts" },
    conditions: conditionsOf("web"),
    plugins: [...plugins, joined()],
    minify: true,
  });
  return inputs;
}

function inputOf(entry: Entry, platform: Platform): BuildOptions {
  const suffix = platform === "node" ? "" : `.${platform}`;
  return {
    entryPoints: { [stemOf(entry) + suffix]: `src/${entry.source}` },
    conditions: entry.platforms ? conditionsOf(platform) : [],
  };
}

// What few clients have.
const search = "../policy/search.js";
const searchPart = { "chunks/search": "src/policy/search.ts" };

// A library that few clients need: a part by itself, too.
const proxyAgent = 'export { HttpsProxyAgent } from "https-proxy-agent";';

// On Node each file read at start costs about a millisecond: what is loaded when it is used is part of it.
const oneFile: BuildOptions = {
  format: "esm",
  plugins: [...plugins, joined(search), apart("https-proxy-agent", "proxies"), apart(search, "search")],
};

function severalFiles(root: string): BuildOptions {
  return {
    format: "esm",
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    chunkNames: "chunks/[name].web",
    plugins: [...plugins, sharingOne(`${root}/src/index.ts`, "createClient")],
  };
}

// Jest's CommonJS has no import(): it becomes a require() at the same place. For Node, esbuild notes the names of the
// exports, by which an `import` of CommonJS finds them.
const commonJs: BuildOptions = {
  format: "cjs",
  platform: "node",
  supported: { "dynamic-import": false },
  plugins: [...plugins, joined(search), apart(search, "search")],
};

// package.json says what "#platform" is under each.
const conditions: Readonly<Record<Platform, string>> = { node: "node", server: "bun", web: "browser" };

function conditionsOf(platform: Platform): string[] {
  return ["tunerank-source", conditions[platform]];
}

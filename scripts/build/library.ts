import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type BuildOptions, build } from "esbuild";
import { browserFile, type Entry, entries, stemOf } from "./entries.js";
import { apart, besideBulk, joined, sharingOne } from "./late.js";
import { builtinsAsImports, withoutDebug, withoutSourceMaps } from "./nodeModules.js";

type Platform = "node" | "server" | "web";

const plugins = [builtinsAsImports, withoutDebug, withoutSourceMaps, besideBulk];

const shared: BuildOptions = {
  bundle: true,
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  // Temporal's packages are peers: a worker and its activities have to share one copy of them.
  external: ["node:*", "@temporalio/*"],
  sourcemap: true,
  // The text of the sources would be half of the package.
  sourcesContent: false,
  // The same number, in fewer bytes.
  define: { "Number.POSITIVE_INFINITY": "Infinity" },
  logLevel: "warning",
};

/** Writes every entry as an ES module and as CommonJS, and the one file for browsers. */
export async function writeLibrary(root: string, dist: string): Promise<void> {
  const write = (...parts: BuildOptions[]) =>
    build(Object.assign({ absWorkingDir: root, outdir: dist }, shared, ...parts));
  for (const entry of entries) {
    const platforms: Platform[] = entry.platforms ? ["node", "server", "web"] : ["node"];
    for (const platform of platforms) {
      // A page's tools look for the sources that a map names, and warn where they are not.
      const input = { ...inputOf(entry, platform), sourcemap: platform !== "web" };
      await write(input, platform === "web" ? severalFiles(root) : oneFile);
      // Whoever requires it elsewhere than on Node bundles it, or has its ES module beside it.
      const dense = platform === "node" ? {} : { minify: true, sourcemap: false };
      await write(input, commonJs, { outdir: `${dist}/cjs` }, dense);
    }
  }
  await write(oneFile, { entryPoints: apartParts, plugins: [...plugins, joined()] });
  await write(commonJs, { entryPoints: searchPart, outdir: `${dist}/cjs` });
  const stdin = { contents: proxyAgent, resolveDir: root, sourcefile: "scripts/build/library.ts" };
  await write(oneFile, { stdin, entryNames: "chunks/proxies", plugins });
  await write(oneFile, {
    entryPoints: { [path.parse(browserFile).name]: "src/index.ts" },
    conditions: conditionsOf("web"),
    plugins: [...plugins, joined()],
    minify: true,
    sourcemap: false,
  });
  await keepLinesOnly(dist);
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
const apartParts = { "chunks/undici": "src/transport/undici.ts", ...searchPart };

// A library that few clients need: a part by itself, too.
const proxyAgent = 'export { HttpsProxyAgent } from "https-proxy-agent";';

// On Node each file read at start costs about a millisecond: what is loaded when it is used is part of it.
const oneFile: BuildOptions = {
  format: "esm",
  plugins: [
    ...plugins,
    joined(search),
    apart("https-proxy-agent", "proxies"),
    apart("../undici.js", "undici"),
    apart(search, "search"),
  ],
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

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Leaves of every source map below a folder what a stack trace shows: the file and line of each line of the module. That
 * is a fifth of it, and the modules are readable themselves.
 */
async function keepLinesOnly(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".map"));
  for (const file of files.map((name) => path.join(folder, name))) {
    const { version, sources, mappings } = JSON.parse(await readFile(file, "utf8"));
    const map = { version, sources, names: [], mappings: lineMappings(mappings) };
    await writeFile(file, JSON.stringify(map));
  }
}

/** The first mapping of each line. */
function lineMappings(mappings: string): string {
  // Of the mapping before: source, line and column are counted on from it; the column in the module begins anew.
  let all = [0, 0, 0];
  let kept = [0, 0, 0];
  const lines = mappings.split(";").map((line) => {
    let first = "";
    for (const mapping of line.split(",")) {
      const [column, ...place] = numbersOf(mapping);
      if (column === undefined || place.length < 3) continue;
      all = all.map((number, index) => number + (place[index] as number));
      if (first !== "") continue;
      first = [column, ...all.map((number, index) => number - (kept[index] as number))].map(textOf).join("");
      kept = all;
    }
    return first;
  });
  return lines.join(";");
}

// Base64 VLQ: five bits a digit, the lowest first; a sixth says that there are more; the sign is the lowest bit of all.
function numbersOf(text: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function textOf(number: number): string {
  let text = "";
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  do {
    const digit = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

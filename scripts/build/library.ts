// Every entry as ES modules and CommonJS. First what becomes of modules that are loaded when they are used, by `import("./name.js")`.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import ts from "typescript";
import { builtinsAsImports, withoutDebug } from "./commandLine.js";
import { browserFile, type Entry, entries, stemOf } from "./entries.js";

/**
 * Puts them into the file that imports them, which stays the only one. esbuild would do so too, but have a function
 * around every module that they share. Comments are left out: the source beside the package has them.
 */
export const joined = (...except: readonly string[]): Plugin => ({
  name: "joined",
  setup({ onLoad }) {
    onLoad({ filter: /src\/.*\.ts$/ }, async ({ path: file }) => {
      const modules: string[] = [];
      const code = withoutComments(await readFile(file, "utf8"));
      const isJoined = /src\/(call|platform|ranking|wrappers)\//.test(file);
      const contents = code.replace(/\bimport\((".*?")\)/g, (whole, module) => {
        if (!isJoined || except.includes(JSON.parse(module))) return whole;
        modules.push(`import * as late${modules.length} from ${module};`);
        return `Promise.resolve(late${modules.length - 1})`;
      });
      // In the first line, so that the others keep their numbers.
      return { contents: modules.join("") + contents, loader: "ts" };
    });
  },
});

/** Blanks comments, but for those that a tool reads. Lines keep their numbers. */
function withoutComments(text: string): string {
  const file = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true);
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const before = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const after = ts.getTrailingCommentRanges(text, node.end) ?? [];
    for (const range of [...before, ...after]) found.set(range.pos, range);
    for (const child of node.getChildren(file)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(file);
  let code = text;
  for (const { pos, end } of found.values()) {
    const comment = text.slice(pos, end);
    if (/[@#]__|^\/\/\/|@license/.test(comment)) continue;
    code = code.slice(0, pos) + comment.replace(/./g, " ") + code.slice(end);
  }
  return code;
}

/** Leaves one of them out: it is built as a file of its own, below chunks. */
export function apart(module: string, chunk: string): Plugin {
  return {
    name: "apart",
    setup({ onResolve }) {
      onResolve({ filter: /^[.h]/ }, ({ kind, path: to }) =>
        to === module && kind === "dynamic-import"
          ? { path: `./chunks/${chunk}.js`, external: true }
          : undefined,
      );
    },
  };
}

/** Has an entry import another one as its users do: what runs of one client share is there once. */
export const besideBulk: Plugin = {
  name: "beside-bulk",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/bulk\/index\.js$/ }, ({ path: to }) => ({ path: to, external: true }));
  },
};

/**
 * Has all of them, and the entry, share one file: esbuild would write one for each set of them that shares something.
 * To that end each of them exports what the whole entry hangs on, too.
 */
export function sharingOne(entry: string, whole: string): Plugin {
  return {
    name: "sharing-one",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ kind, path: to, resolveDir }) =>
        kind === "dynamic-import"
          ? { path: path.resolve(resolveDir, to.replace(/\.js$/, ".ts")), namespace: "late" }
          : undefined,
      );
      onLoad({ filter: /./, namespace: "late" }, ({ path: file }) => ({
        contents: `export * from ${JSON.stringify(file)}; export { ${whole} } from ${JSON.stringify(entry)};`,
        resolveDir: path.dirname(file),
      }));
    },
  };
}

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

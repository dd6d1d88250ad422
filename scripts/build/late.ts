// What becomes of the modules that are loaded when they are used: `import("./name.js")` in the source.
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "esbuild";

/**
 * Puts them into the file that imports them, which stays the only one. esbuild would do so too, but have a function
 * around every module that they share.
 */
export const joined: Plugin = {
  name: "joined",
  setup({ onLoad }) {
    onLoad({ filter: /src\/(call|ranking|wrappers)\/.*\.ts$/ }, async ({ path: file }) => {
      const modules: string[] = [];
      const text = (await readFile(file, "utf8")).replace(/\bimport\((".*?")\)/g, (_, module) => {
        modules.push(`import * as late${modules.length} from ${module};`);
        return `Promise.resolve(late${modules.length - 1})`;
      });
      // In the first line, so that the others keep their numbers.
      return { contents: modules.join("") + text, loader: "ts" };
    });
  },
};

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

// What becomes of the modules that are loaded when they are used: `import("./name.js")` in the source.
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "esbuild";
import ts from "typescript";

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

import path from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { rollup } from "rollup";
import { build as vite } from "vite";
import webpack from "webpack";

const conditions = (forNode) => (forNode ? ["node"] : ["browser"]);

/** With the options that their guides give for a browser, or for Node. */
export const bundlers = {
  esbuild: ({ entry, forNode, folder }) =>
    esbuild({
      entryPoints: [entry],
      bundle: true,
      format: entry.endsWith(".cjs") ? "cjs" : "esm",
      platform: forNode ? "node" : "browser",
      outfile: path.join(folder, `bundle.${entry.endsWith(".cjs") ? "cjs" : "mjs"}`),
      logLevel: "error",
    }),
  async rollup({ entry, forNode, folder }) {
    const resolve = nodeResolve({ browser: !forNode, exportConditions: conditions(forNode) });
    const bundle = await rollup({ input: entry, plugins: [resolve], external: [/^node:/] });
    await bundle.write({ file: path.join(folder, "bundle.mjs"), format: "es", inlineDynamicImports: true });
  },
  async vite({ entry, forNode, folder }) {
    await vite({
      root: path.dirname(entry),
      logLevel: "error",
      ...(forNode ? { ssr: { noExternal: ["tunerank"] } } : {}),
      build: {
        outDir: folder,
        ssr: forNode,
        rollupOptions: { input: entry, output: { entryFileNames: "bundle.mjs" } },
      },
    });
    // It sets this for the whole process, and npm would leave out what is for development.
    delete process.env.NODE_ENV;
  },
  webpack: ({ entry, forNode, folder }) =>
    new Promise((resolve, reject) => {
      const configuration = {
        mode: "production",
        entry,
        target: forNode ? "node" : "web",
        output: { path: folder, filename: "bundle.cjs" },
      };
      webpack(configuration, (error, stats) => {
        const problem = error?.message ?? (stats?.hasErrors() ? stats.toString("errors-only") : undefined);
        if (problem === undefined) resolve(undefined);
        else reject(new Error(problem));
      });
    }),
};

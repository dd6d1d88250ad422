import type { BuildOptions, Plugin } from "esbuild";
import { builtins, withoutDebug, withoutSourceMaps } from "./nodeModules.js";

// In one file the imports of every command would stand at its top, so `--help` would load https, zlib and workers, half of
// an empty Node's start. So each of Node's own modules is read where the first of ours that needs it is initialised.
const builtinsWhenUsed: Plugin = {
  name: "builtins-when-used",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** How `tunerank` is built: one file, because each one read at start costs about a millisecond. It runs on Node alone. */
export const commandLineBuild: BuildOptions = {
  entryPoints: ["src/cli/main.ts"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  external: ["node:*", ...builtins],
  plugins: [builtinsWhenUsed, withoutDebug, withoutSourceMaps],
  conditions: ["tunerank-source"],
  // commander is CommonJS: in an ES module its `require` of Node's own modules has to be given. It starts no other
  // program here, so `node:child_process`, 3 ms of every start, is left out.
  banner: {
    js: 'const require = (name) => (name === "node:child_process" ? {} : process.getBuiltinModule(name));',
  },
  // Without any import it would be taken for CommonJS.
  footer: { js: "export {};" },
  logLevel: "warning",
};

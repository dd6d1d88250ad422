import type { BuildOptions } from "esbuild";
import { builtins, withoutDebug, withoutSourceMaps } from "./nodeModules.js";

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
  plugins: [withoutDebug, withoutSourceMaps],
  conditions: ["tunerank-source"],
  // commander is CommonJS: in an ES module its `require` of Node's own modules has to be given. It starts no other
  // program here, so `node:child_process`, 3 ms of every start, is left out.
  banner: {
    js: 'const require = (name) => (name === "node:child_process" ? {} : process.getBuiltinModule(name));',
  },
  logLevel: "warning",
};

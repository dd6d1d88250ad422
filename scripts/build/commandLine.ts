import type { BuildOptions, Plugin } from "esbuild";

/** What https-proxy-agent and agent-base ask for by its old name. */
export const builtins: readonly string[] = ["assert", "http", "https", "net", "tls", "url"];

/** Node's own modules for libraries that `require` them: as imports, which an ES module can have. */
export const builtinsAsImports: Plugin = {
  name: "builtins-as-imports",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(${builtins.join("|")})$`) }, ({ path }) => ({
      path,
      namespace: "builtins",
    }));
    onLoad({ filter: /./, namespace: "builtins" }, ({ path }) => ({
      contents: `export * from "node:${path}"; export { default } from "node:${path}";`,
    }));
  },
};

/** Leaves `debug` out: it reads the variable DEBUG, and cannot be part of an ES module. */
export const withoutDebug: Plugin = {
  name: "without-debug",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^debug$/ }, ({ path }) => ({ path, namespace: "without-debug" }));
    onLoad({ filter: /./, namespace: "without-debug" }, () => ({
      contents: "module.exports = () => () => {};",
    }));
  },
};

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

// The library of `tunerank mcp` is larger than all of the command: only this command reads it.
const mcpApart: Plugin = {
  name: "mcp-apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/mcp\/server\.js$/ }, () => ({ path: "./mcp.js", external: true }));
  },
};

/**
 * How `tunerank` is built, for Node alone: one file, because each one read at start costs about a millisecond; CommonJS,
 * because to start an ES module costs Node 20 some 6 ms more.
 */
export const commandLineBuild: BuildOptions = {
  entryPoints: ["src/cli/main.ts"],
  bundle: true,
  minify: true,
  format: "cjs",
  target: "es2022",
  platform: "neutral",
  mainFields: ["main"],
  external: ["node:*", ...builtins],
  plugins: [mcpApart, builtinsWhenUsed, withoutDebug],
  conditions: ["tunerank-source"],
  // A minified CommonJS file hides the names of its exports from import().
  supported: { "dynamic-import": false },
  define: { "import.meta.url": "moduleUrl" },
  // The directive first: behind the constant it would be a text without meaning.
  banner: { js: '"use strict";const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
  logLevel: "warning",
};

/** How the part of `tunerank mcp` is built: with the smaller of its validators, which is never used. */
export const mcpBuild: BuildOptions = {
  ...commandLineBuild,
  entryPoints: { mcp: "src/mcp/server.ts" },
  conditions: ["tunerank-source", "browser"],
};

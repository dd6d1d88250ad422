import type { Plugin } from "esbuild";

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

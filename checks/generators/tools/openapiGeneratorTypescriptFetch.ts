import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";
import { compileTypeScript, runCompiled } from "./typescript.js";

export const openapiGeneratorTypescriptFetch: Tool = {
  ...openapiGenerator("typescript-fetch"),
  language: "TypeScript",
  needs: ["Java 11 or newer", "Maven", "Node 22 or newer"],
  note: "imports without file names: give it a bundler",
  compile: ({ folder }) => compileTypeScript(folder, { module: "commonjs", moduleResolution: "node10" }),
  call: ({ folder }, env) => runCompiled(folder, env),
};

import type { Tool } from "../check/tool.js";
import { cargoBuild, runBuilt } from "./cargo.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorRust: Tool = {
  ...openapiGenerator("rust"),
  language: "Rust",
  needs: ["Java 11 or newer", "Maven", "Cargo"],
  compile: ({ folder }) => cargoBuild(folder),
  call: (_, env) => runBuilt("call-openapi-generator", env),
};

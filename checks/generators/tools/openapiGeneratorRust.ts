import { cp } from "node:fs/promises";
import { join } from "node:path";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { cargoBuild, runBuilt } from "./cargo.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorRust: Tool = {
  name: "openapi-generator rust",
  language: "Rust",
  version: versions["openapi-generator"],
  needs: ["Java 11 or newer", "Maven", "Cargo"],
  documents: ["openapi.json", "openapi-3.0.json"],
  async generate({ document, folder }) {
    await cp(callers("openapi-generator-rust"), folder, { recursive: true });
    await openapiGenerator("rust", { document, folder: join(folder, "client") });
  },
  compile: ({ folder }) => cargoBuild(folder),
  call: (_, env) => runBuilt("call-openapi-generator", env),
};

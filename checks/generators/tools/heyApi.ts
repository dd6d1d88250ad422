import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { compileTypeScript, packaged, runCompiled } from "./typescript.js";

export const heyApi: Tool = {
  name: "@hey-api/openapi-ts",
  language: "TypeScript",
  version: versions["@hey-api/openapi-ts"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx @hey-api/openapi-ts -i openapi-client.json -o client",
  program: async () => packaged("openapi-ts"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

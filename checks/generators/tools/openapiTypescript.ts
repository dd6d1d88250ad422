import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { compileTypeScript, packaged, runCompiled } from "./typescript.js";

export const openapiTypescript: Tool = {
  name: "openapi-typescript",
  language: "TypeScript",
  version: versions["openapi-typescript"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx openapi-typescript openapi-client.json -o client/schema.d.ts",
  note: "called with openapi-fetch; the file's type is string, so the upload brings its own form",
  program: async () => packaged("openapi-typescript"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { compileTypeScript, packaged, runCompiled } from "./typescript.js";

export const orval: Tool = {
  name: "orval",
  language: "TypeScript",
  version: versions.orval,
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx orval --input openapi-client.json --output client/client.ts",
  note: "called with axios, which gets the address and the key",
  program: async () => packaged("orval"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

import { cp } from "node:fs/promises";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { compileTypeScript, runCompiled, runPackaged } from "./typescript.js";

export const heyApi: Tool = {
  name: "@hey-api/openapi-ts",
  language: "TypeScript",
  version: versions["@hey-api/openapi-ts"],
  needs: ["Node 22 or newer"],
  documents: ["openapi.json", "openapi-3.0.json"],
  async generate({ document, folder }) {
    await cp(callers("hey-api"), folder, { recursive: true });
    const options = ["--client", "@hey-api/client-fetch", "--silent", "--no-log-file"];
    await runPackaged("openapi-ts", ["--input", document, "--output", "service", ...options], folder);
  },
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

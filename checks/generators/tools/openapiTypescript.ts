import { cp } from "node:fs/promises";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { compileTypeScript, runCompiled, runPackaged } from "./typescript.js";

export const openapiTypescript: Tool = {
  name: "openapi-typescript",
  language: "TypeScript",
  version: versions["openapi-typescript"],
  needs: ["Node 22 or newer"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: "called with openapi-fetch; the file's type is string, so the upload brings its own form",
  async generate({ document, folder }) {
    await cp(callers("openapi-typescript"), folder, { recursive: true });
    await runPackaged("openapi-typescript", [document, "--output", "schema.ts"], folder);
  },
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

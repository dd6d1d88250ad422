import { cp } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { openapiGenerator, readNewer } from "./openapiGenerator.js";

const options = [
  "--git-user-id=tunerank",
  "--git-repo-id=service",
  "--package-name=service",
  `--additional-properties=enumClassPrefix=true,${readNewer}`,
];

export const openapiGeneratorGo: Tool = {
  name: "openapi-generator go",
  language: "Go",
  version: versions["openapi-generator"],
  needs: ["Java 11 or newer", "Maven", "Go"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: `needs enumClassPrefix=true, since all constants share one package; reads newer fields and enum values with ${readNewer}`,
  generate: (workplace) => openapiGenerator("go", workplace, options),
  async compile({ folder }) {
    await cp(callers("openapi-generator-go"), join(folder, "call"), { recursive: true });
    await run("go", ["vet", ".", "./call"], { cwd: folder });
    await run("go", ["build", "-o", "caller", "./call"], { cwd: folder });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};

import { cp } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorGo: Tool = {
  ...openapiGenerator("go"),
  language: "Go",
  needs: ["Java 11 or newer", "Maven", "Go"],
  async compile({ folder }) {
    const client = join(folder, "client");
    await cp(join(folder, "main.go"), join(client, "call/main.go"));
    await run("go", ["mod", "tidy"], { cwd: client });
    await run("go", ["vet", ".", "./call"], { cwd: client });
    await run("go", ["build", "-o", join(folder, "caller"), "./call"], { cwd: client });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};

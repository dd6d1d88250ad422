import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorPhp: Tool = {
  ...openapiGenerator("php"),
  language: "PHP",
  needs: ["Java 11 or newer", "Maven", "PHP 8.1 with Guzzle 7"],
  async compile({ folder }) {
    const library = join(folder, "client/lib");
    const files = await readdir(library, { recursive: true });
    for (const file of files.filter((each) => each.endsWith(".php"))) {
      await run("php", ["-l", join(library, file)]);
    }
  },
  call: ({ folder }, env) => run("php", ["call.php"], { cwd: folder, env }),
};

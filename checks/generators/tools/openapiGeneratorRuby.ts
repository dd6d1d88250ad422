import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorRuby: Tool = {
  ...openapiGenerator("ruby"),
  language: "Ruby",
  needs: ["Java 11 or newer", "Maven", "Ruby with Typhoeus"],
  async compile({ folder }) {
    const library = join(folder, "client/lib");
    const files = (await readdir(library, { recursive: true })).filter((each) => each.endsWith(".rb"));
    await run("ruby", ["-c", ...files.map((file) => join(library, file))]);
  },
  call: ({ folder }, env) => run("ruby", ["-I", "client/lib", "call.rb"], { cwd: folder, env }),
};

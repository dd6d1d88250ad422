import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { mavenCompile, runClass } from "./maven.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorJava: Tool = {
  ...openapiGenerator("java"),
  language: "Java",
  needs: ["Java 11 or newer", "Maven"],
  async compile({ folder }) {
    await cp(join(folder, "Call.java"), join(folder, "client/src/main/java/Call.java"));
    await mavenCompile(join(folder, "client"));
  },
  call: ({ folder }, env) => runClass(join(folder, "client"), "Call", env),
};

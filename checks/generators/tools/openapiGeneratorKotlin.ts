import type { Tool } from "../check/tool.js";
import { mavenCompile, runClass } from "./maven.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorKotlin: Tool = {
  ...openapiGenerator("kotlin"),
  language: "Kotlin",
  needs: ["Java 11 or newer", "Maven"],
  note: "compiled with Maven and the libraries that its build.gradle names",
  compile: ({ folder }) => mavenCompile(folder),
  call: ({ folder }, env) => runClass(folder, "CallKt", env),
};

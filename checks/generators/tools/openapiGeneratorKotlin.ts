import type { Tool } from "../check/tool.js";
import { mavenCompile, runClass } from "./maven.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorKotlin: Tool = {
  ...openapiGenerator("kotlin"),
  language: "Kotlin",
  needs: ["Java 11 or newer", "Maven"],
  note: "where its Gradle cannot be downloaded, compiled with Maven and the libraries that its build.gradle names",
  builds: { had: ["sh", "gradlew", "--version"], build: ["sh", "gradlew", "assemble"] },
  compile: ({ folder }) => mavenCompile(folder),
  call: ({ folder }, env) => runClass(folder, "CallKt", env),
};

import { cp, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { run } from "../check/command.js";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { openapiGenerator, readNewer } from "./openapiGenerator.js";

const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions["maven-dependency-plugin"]}`;

export const openapiGeneratorJava: Tool = {
  name: "openapi-generator java",
  language: "Java",
  version: versions["openapi-generator"],
  needs: ["Java 11 or newer", "Maven"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: `reads newer fields and enum values with ${readNewer}`,
  generate: (workplace) => openapiGenerator("java", workplace, [`--additional-properties=${readNewer}`]),
  async compile({ folder }) {
    await cp(callers("openapi-generator-java"), join(folder, "src/main/java"), { recursive: true });
    const goals = ["compile", `${plugin}:build-classpath`, "-Dmdep.outputFile=classpath.txt"];
    await run("mvn", ["--batch-mode", "--quiet", ...goals], { cwd: folder });
  },
  async call({ folder }, env) {
    const libraries = await readFile(join(folder, "classpath.txt"), "utf8");
    const classes = [join(folder, "target/classes"), libraries.trim()].join(delimiter);
    return run("java", ["-cp", classes, "Call"], { env });
  },
};

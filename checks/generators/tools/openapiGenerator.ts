import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";

const version = versions["openapi-generator"];
const jar = join(cache, "jars", `openapi-generator-cli-${version}.jar`);

/** What is the same for every generator of openapi-generator: the command of its manual, without an option. */
export function openapiGenerator(
  generator: string,
): Pick<Tool, "name" | "version" | "documents" | "command" | "program"> {
  return {
    name: `openapi-generator ${generator}`,
    version,
    documents: ["openapi-client.json", "openapi-client-3.0.json"],
    command: `java -jar openapi-generator-cli.jar generate -i openapi-client.json -g ${generator} -o client`,
    async program() {
      await fetchJar();
      return ["java", "-jar", jar];
    },
  };
}

async function fetchJar(): Promise<void> {
  if (existsSync(jar)) return;
  const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions["maven-dependency-plugin"]}`;
  await run("mvn", [
    "--batch-mode",
    `${plugin}:copy`,
    `-Dartifact=org.openapitools:openapi-generator-cli:${version}`,
    `-DoutputDirectory=${join(cache, "jars")}`,
  ]);
}

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";

const version = versions["openapi-generator"];
const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions["maven-dependency-plugin"]}`;
const artifact = `org.openapitools:openapi-generator-cli:${version}`;
const get = `mvn ${plugin}:copy -Dartifact=${artifact} -Dmdep.stripVersion=true -DoutputDirectory=.`;
const jars = join(cache, "jars", version);
const jar = join(jars, "openapi-generator-cli.jar");

/** What is the same for every generator of openapi-generator: the command of its manual, without an option. */
export function openapiGenerator(
  generator: string,
): Pick<Tool, "name" | "version" | "documents" | "command" | "get" | "program"> {
  return {
    name: `openapi-generator ${generator}`,
    version,
    documents: ["openapi-client.json", "openapi-client-3.0.json"],
    command: `java -jar openapi-generator-cli.jar generate -i openapi-client.json -g ${generator} -o client`,
    get,
    async program() {
      await fetchJar();
      return ["java", "-jar", jar];
    },
  };
}

async function fetchJar(): Promise<void> {
  if (existsSync(jar)) return;
  await mkdir(jars, { recursive: true });
  const [command = "", ...args] = get.split(" ");
  await run(command, args, { cwd: jars });
}

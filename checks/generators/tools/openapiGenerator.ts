import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import type { Workplace } from "../check/tool.js";
import { versions } from "../check/versions.js";

const version = versions["openapi-generator"];
const jar = join(cache, "jars", `openapi-generator-cli-${version}.jar`);

/** What lets a client read an answer with a field, or a value of an enumeration, that the document does not know. */
export const readNewer = "disallowAdditionalPropertiesIfNotPresent=false,enumUnknownDefaultCase=true";

/** Generates a client with openapi-generator into the workplace's folder. */
export async function openapiGenerator(
  generator: string,
  { document, folder }: Workplace,
  options: readonly string[] = [],
): Promise<void> {
  await fetchJar();
  const only = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
  const args = ["generate", "-g", generator, "-i", document, "-o", folder, "--global-property", only];
  await run("java", ["-jar", jar, ...args, ...options]);
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

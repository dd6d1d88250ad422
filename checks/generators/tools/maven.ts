import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { run } from "../check/command.js";
import { versions } from "../check/versions.js";

const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions["maven-dependency-plugin"]}`;

/** Compiles the Maven project in a folder. */
export async function mavenCompile(folder: string): Promise<void> {
  const goals = ["compile", `${plugin}:build-classpath`, "-Dmdep.outputFile=classpath.txt"];
  await run("mvn", ["--batch-mode", "--quiet", ...goals], { cwd: folder });
}

/** Runs a class that Maven compiled. */
export async function runClass(
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const libraries = await readFile(join(folder, "classpath.txt"), "utf8");
  const classes = [join(folder, "target/classes"), libraries.trim()].join(delimiter);
  return run("java", ["-cp", classes, name], { env });
}

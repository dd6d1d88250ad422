import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { generators } from "../check/folders.js";
import { newerNode } from "../check/toolchains.js";

const packages = join(generators, "node_modules");
const options = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2022", "dom", "dom.iterable"],
  typeRoots: [join(generators, "../node_modules/@types")],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  outDir: "out",
  rootDir: ".",
};

/** Compiles the TypeScript in a folder, with the packages of this one. */
export async function compileTypeScript(folder: string): Promise<void> {
  await symlink(packages, join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, exclude: ["out"] }),
  );
  await runPackaged("tsc", ["--project", "."], folder);
}

/** Runs the program of an npm package. */
export async function runPackaged(program: string, args: readonly string[], cwd: string): Promise<string> {
  return run(newerNode, [join(packages, ".bin", program), ...args], { cwd });
}

/** Runs the compiled caller. */
export function runCompiled(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  return run(newerNode, [join(folder, "out/call.js")], { env });
}

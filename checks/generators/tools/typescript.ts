import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { generators, root } from "../check/folders.js";
import { newerNode } from "../check/toolchains.js";

const packages = join(generators, "node_modules");
const options = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2022", "dom", "dom.iterable"],
  typeRoots: [join(root, "node_modules/@types")],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  outDir: "out",
  rootDir: ".",
};

/** Compiles the TypeScript in a folder, with the packages of this one. */
export async function compileTypeScript(
  folder: string,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  await symlink(packages, join(folder, "node_modules"));
  const type = others.module === "commonjs" ? "commonjs" : "module";
  await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...others }, exclude: ["out"] }),
  );
  const [node = "", tsc = ""] = packaged("tsc");
  await run(node, [tsc, "--project", "."], { cwd: folder });
}

/** The command that runs a program of an npm package. */
export function packaged(program: string): string[] {
  return [newerNode, join(packages, ".bin", program)];
}

/** Runs the compiled caller. */
export function runCompiled(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  return run(newerNode, [join(folder, "out/call.js")], { env });
}

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import { versions } from "../check/versions.js";

/** A Python environment, kept between runs. */
export interface Venv {
  readonly name: string;
  readonly packages: readonly (keyof typeof versions)[];
}

/** The folder of an environment's programs; makes the environment when it is not there. */
export async function programs({ name, packages }: Venv): Promise<string> {
  const requirements = packages.map((each) => `${each}==${versions[each]}`);
  const folder = join(cache, "venv", [name, ...requirements].join("+"));
  const bin = join(folder, "bin");
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    await run("python3", ["-m", "venv", "--clear", folder]);
    await run(join(bin, "pip"), ["install", "--quiet", ...requirements]);
    await writeFile(complete, "");
  }
  return bin;
}

/** Compiles every module of a client, and checks the types of the caller against it. */
export async function checkPython(venv: Venv, folder: string, caller: string): Promise<void> {
  const python = join(await programs(venv), "python");
  await run(python, ["-m", "compileall", "-q", folder]);
  const types = ["--strict", "--follow-imports=silent", "--ignore-missing-imports"];
  await run(python, ["-m", "mypy", ...types, caller], { cwd: folder, env: { MYPYPATH: folder } });
}

/** Runs a caller with the client in the folder. */
export async function runPython(
  venv: Venv,
  folder: string,
  caller: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return run(join(await programs(venv), "python"), [caller], { env: { ...env, PYTHONPATH: folder } });
}

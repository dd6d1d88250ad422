import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";

const target = join(cache, "cargo-target");

/** Compiles the package in a folder without optimisation; what it depends on is compiled once and kept. */
export async function cargoBuild(folder: string): Promise<void> {
  await run("cargo", ["build", "--quiet"], { cwd: folder, env: { CARGO_TARGET_DIR: target } });
}

/** Runs a program that cargo compiled. */
export function runBuilt(program: string, env: Readonly<Record<string, string>>): Promise<string> {
  return run(join(target, "debug", program), [], { env });
}

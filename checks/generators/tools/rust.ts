import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { cache, run, versions } from "../check/toolchains.js";

const target = join(cache, "cargo-target");

/** Compiles the package in a folder without optimisation; what it depends on is compiled once and kept. */
export async function cargoBuild(folder: string): Promise<void> {
  await run("cargo", ["build", "--quiet"], { cwd: folder, env: { CARGO_TARGET_DIR: target } });
}

/** Runs a program that cargo compiled. */
export function runBuilt(program: string, env: Readonly<Record<string, string>>): Promise<string> {
  return run(join(target, "debug", program), [], { env });
}

export const progenitor: Tool = {
  name: "progenitor",
  language: "Rust",
  version: versions.progenitor,
  needs: ["Cargo"],
  documents: ["openapi-client-3.0.json"],
  command: 'progenitor::generate_api!("openapi-client-3.0.json");',
  unsupported: ["upload"],
  note: "knows no multipart form: give it the document without the upload",
  // The client is made by a macro while the caller is compiled.
  async generate({ folder, document }) {
    const manifest = join(folder, "Cargo.toml");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace("VERSION", versions.progenitor));
    const path = join(folder, document);
    const contract = JSON.parse(await readFile(path, "utf8")) as { paths: Record<string, unknown> };
    const paths = Object.entries(contract.paths).filter(([each]) => !each.endsWith(":upload"));
    await writeFile(path, JSON.stringify({ ...contract, paths: Object.fromEntries(paths) }));
  },
  compile: ({ folder }) => cargoBuild(folder),
  call: (_, env) => runBuilt("call-progenitor", env),
};

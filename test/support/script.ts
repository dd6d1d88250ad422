import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { builtinsAsImports, withoutDebug } from "../../scripts/build/commandLine.js";
import { canaryKey } from "./canary.js";
import { type Outcome, root, run } from "./project.js";

const folder: string = mkdtempSync(path.join(tmpdir(), "tunerank-script-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let programs = 0;
const files: Map<string, Promise<string>> = new Map();

/** Runs a module of its own process against the sources, which it finds as "./src/index.ts". Its key is in the environment. */
export async function runScript(
  script: string,
  env: Record<string, string>,
  {
    node = process.execPath,
    args = [],
    project = root,
    withinMs = 60_000,
  }: { node?: string; args?: readonly string[]; project?: string; withinMs?: number } = {},
): Promise<Outcome> {
  const program = await bundled({ stdin: { contents: script, resolveDir: project, loader: "ts" } });
  return run(node, [...args, program], { cwd: root, env: { TUNERANK_API_KEY: canaryKey, ...env }, withinMs });
}

/** Runs a file of this project that needs nothing but the sources. */
export async function runFile(file: string, env: Record<string, string> = {}): Promise<Outcome> {
  // It finds the files beside it where it stands itself.
  const define = { "import.meta.url": JSON.stringify(pathToFileURL(file)) };
  const program = files.get(file) ?? bundled({ entryPoints: [file], define });
  files.set(file, program);
  return run(process.execPath, [await program], { cwd: root, env });
}

// What tests share with such a program may come with hooks, which nobody runs there.
const withoutHooks: Plugin = {
  name: "without-hooks",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^vitest$/ }, ({ path: name }) => ({ path: name, namespace: "without-hooks" }));
    onLoad({ filter: /./, namespace: "without-hooks" }, () => ({
      contents:
        "const none = () => {}; export { none as afterAll, none as afterEach, none as beforeAll, none as beforeEach, none as onTestFinished };",
    }));
  },
};

// Compiled here: a process that compiles everything for itself takes five times as long.
async function bundled(input: BuildOptions): Promise<string> {
  programs += 1;
  const outfile = path.join(folder, `${programs}.mjs`);
  await build({
    ...input,
    absWorkingDir: root,
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [builtinsAsImports, withoutDebug, withoutHooks],
    conditions: ["tunerank-source"],
    // What is loaded for its effects alone, which the sources have none of.
    logOverride: { "ignored-bare-import": "silent" },
  });
  return outfile;
}

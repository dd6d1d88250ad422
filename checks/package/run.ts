// npm run check:package: what users get, held against what package managers, compilers and bundlers expect.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { installPacked } from "../installPacked.js";
import { writeBillOfMaterials } from "./billOfMaterials.js";
import { checkTreeShaking } from "./bundles.js";
import { checkFiles } from "./files.js";
import { checkTypes } from "./types.js";

const { values: options } = parseArgs({ options: { update: { type: "boolean", default: false } } });
const run = promisify(execFile);
const tool = (file: string): string => fileURLToPath(new URL(`node_modules/${file}`, import.meta.url));
const { user, tarball, files, remove } = installPacked();
const installed = path.join(user, "node_modules/tunerank");
const manifest = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));
const modules = Object.keys(manifest.exports).filter((entry) => typeof manifest.exports[entry] === "object");
const documents = Object.keys(manifest.exports).filter((entry) => !modules.includes(entry));

const checks: Readonly<Record<string, () => string | Promise<string>>> = {
  async "publint, strict"() {
    const args = [tool("publint/src/cli.js"), "run", installed, "--strict", "--pack", "false"];
    const { stdout } = await runTool(args);
    // It ends with success after mere suggestions.
    if (!stdout.includes("All good!")) throw new Error(stdout);
    return "no finding";
  },
  async "attw, esm-only"() {
    const form = ["--profile", "esm-only", "--format", "table", "--exclude-entrypoints", ...documents];
    await runTool([tool("@arethetypeswrong/cli/dist/index.js"), tarball, ...form]);
    return `${modules.length} entries`;
  },
  async "import and require() on Node 20.19 or newer"() {
    const names = modules.map((entry) => path.posix.join("tunerank", entry));
    const code = `for (const name of ${JSON.stringify(names)}) {
      if (Object.keys(require(name)).join() !== Object.keys(await import(name)).join()) throw new Error(name);
    }`;
    const script = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url + "/x.js"); ${code}`;
    const warnings = "--disable-warning=ExperimentalWarning";
    await run(process.execPath, [warnings, "--input-type=module", "-e", script], { cwd: user });
    return `${names.join(", ")} on Node ${process.versions.node}`;
  },
  declarations: () => checkTypes(user),
  "tree-shaking": () => checkTreeShaking(user),
  "files of the tarball": () => checkFiles(files, options.update),
  "dependencies and install scripts"() {
    const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    const scripts = ["preinstall", "install", "postinstall"].filter(
      (name) => name in (manifest.scripts ?? {}),
    );
    if (dependencies.length > 0 || scripts.length > 0) throw new Error(`${[...dependencies, ...scripts]}`);
    return "none";
  },
  "bill of materials": () => writeBillOfMaterials(user, files),
};

const rows: { check: string; found: string }[] = [];
for (const [check, perform] of Object.entries(checks)) {
  try {
    const found = await perform();
    rows.push({ check, found });
    console.log(`ok       ${check}: ${found}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED   ${check}\n${(error as Error).message}`);
  }
}
remove();
if (process.exitCode !== 1) {
  const date = new Date().toISOString().slice(0, 10);
  const data = new URL("../../docs/data/packageChecks.json", import.meta.url);
  writeFileSync(data, `${JSON.stringify({ date, version: manifest.version, rows }, undefined, 2)}\n`);
}

// What a tool found stands in what it printed.
async function runTool(args: readonly string[]): Promise<{ stdout: string }> {
  return await run(process.execPath, args).catch(({ stdout, message }) => {
    throw new Error(stdout || message);
  });
}

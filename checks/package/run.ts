// npm run check:package: what users get, held against what package managers, compilers, test runners and bundlers
// expect. With --all also what is too slow for every run; --tarball FILE checks another tarball, such as an older one.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { recordRun } from "../../scripts/lastRuns.js";
import { installPacked } from "../installPacked.js";
import { checkBundlers } from "./bundlers.js";
import { checkFiles, checkWeight, writeBillOfMaterials } from "./tarball.js";
import { checkTestRunners } from "./testRunners.js";
import { runNode, tool } from "./tool.js";
import { checkTypes } from "./types.js";

const absent = ["dist/testing/", "dist/adapters/", "dist/cli/"];

const { values: options } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    tarball: { type: "string" },
  },
});
const { user, tarball, files, remove } = installPacked([], options.tarball);
const installed = path.join(user, "node_modules/tunerank");
const manifest = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));
const modules = Object.keys(manifest.exports).filter((entry) => typeof manifest.exports[entry] === "object");
const documents = Object.keys(manifest.exports).filter((entry) => !modules.includes(entry));
const browser = "./browser";
// These need packages that are optional; checks/temporal imports and requires them.
const temporal = "./temporal";

// The ES module and the CommonJS one in one program: two copies of the package, as when two versions are installed.
const twoCopies = `
  import { createRequire } from "node:module";
  import * as imported from "tunerank";
  const { resolve } = createRequire(import.meta.url + "/x.js");
  const required = await import(resolve("tunerank"));
  const errorOf = ({ createClient }) => {
    try { createClient({ baseUrl: "x" }); } catch (error) { return error; }
  };
  class Mine extends imported.StatusError {}
  const found = [
    imported.StatusError !== required.StatusError,
    imported.isStatusError(errorOf(required), "INVALID_ARGUMENT"),
    required.isStatusError(errorOf(imported), "INVALID_ARGUMENT"),
    errorOf(required) instanceof imported.StatusError,
    errorOf(imported) instanceof required.StatusError,
    !(errorOf(required) instanceof Mine),
    !(errorOf(imported) instanceof Mine),
    !(new Error("x") instanceof imported.StatusError),
  ];
  console.log(found.every(Boolean) ? "all" : found.join());`;

const checks: Readonly<Record<string, () => string | Promise<string>>> = {
  async "publint, strict"() {
    const args = [tool("publint/src/cli.js"), "run", installed, "--strict", "--pack", "false"];
    const found = await runNode(args);
    // It ends with success after mere suggestions.
    if (!found.includes("All good!")) throw new Error(found);
    return "no finding";
  },
  async "attw, strict"() {
    const attw = [tool("@arethetypeswrong/cli/dist/index.js"), tarball, "--format", "table"];
    await runNode([...attw, "--profile", "strict", "--exclude-entrypoints", browser, ...documents]);
    await runNode([...attw, "--profile", "esm-only", "--entrypoints", browser]);
    return `${modules.length} entries, tunerank/browser without CommonJS`;
  },
  async "import and require() on Node 20.19 or newer"() {
    const names = modules
      .filter((entry) => entry !== browser && !entry.startsWith(temporal))
      .map((entry) => path.posix.join("tunerank", entry));
    const code = `for (const name of ${JSON.stringify(names)}) {
      const [required, imported] = [require(name), await import(name)].map((all) => Object.keys(all).sort().join());
      if (required !== imported) throw new Error(name + ": " + required);
    }
    await import("tunerank/browser");
    for (const name of ["tunerank/temporal", "tunerank/temporal/workflows"]) {
      const { message } = await import(name).catch((error) => error);
      if (!/@temporalio\\/(activity|workflow)/.test(message)) throw new Error(name + ": " + message);
    }`;
    const script = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url + "/x.js"); ${code}`;
    await runNode(["--input-type=module", "-e", script], user);
    return `${names.join(", ")} on Node ${process.versions.node}`;
  },
  "two copies in one program": () => checkCopies(user),
  compilers: () => checkTypes(user, options.all),
  "test runners": () => checkTestRunners(user),
  bundlers: () => checkBundlers(user),
  "tree-shaking": () => checkTreeShaking(user),
  "files of the tarball": () => checkFiles(files, options.update),
  "its weight": () => checkWeight(tarball, installed, files),
  "dependencies and install scripts"() {
    const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    const scripts = ["preinstall", "install", "postinstall"].filter(
      (name) => name in (manifest.scripts ?? {}),
    );
    if (dependencies.length > 0 || scripts.length > 0) throw new Error(`${[...dependencies, ...scripts]}`);
    return "none";
  },
  "bill of materials": async () => writeBillOfMaterials(),
};

for (const [check, perform] of Object.entries(checks)) {
  const started = performance.now();
  try {
    const found = await perform();
    console.log(`ok       ${check}: ${found} (${Math.round((performance.now() - started) / 1000)} s)`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED   ${check}\n${(error as Error).message}`);
  }
}
remove();
if (options.all && options.tarball === undefined && process.exitCode !== 1) recordRun("package");

/** Bundles a page's code, and looks what it holds. */
async function checkTreeShaking(user: string): Promise<string> {
  const entry = path.join(user, "page.js");
  writeFileSync(entry, 'import { createClient } from "tunerank";\nconsole.log(createClient);\n');
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: user,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const inputs = Object.keys(metafile.inputs);
  const found = inputs.filter((input) => absent.some((folder) => input.includes(folder)));
  if (found.length > 0) throw new Error(`A bundle of createClient holds ${found}.`);
  return `createClient alone: ${inputs.length} modules, none of ${absent.join(", ")}`;
}

/** Each knows the other's errors, and subclasses are told apart. */
async function checkCopies(user: string): Promise<string> {
  const printed = await runNode(["--input-type=module", "-e", twoCopies], user);
  if (printed !== "all\n") throw new Error(printed);
  return "isStatusError and instanceof know the errors of either";
}

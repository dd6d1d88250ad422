// Programs installed by other package managers, from the tarball and without a network.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { environment, equal, here, node20, node24, type Program, printedBy, tool } from "./processes.js";
import { placed } from "./starters.js";

export const pnpm: Program = async ({ service, baseUrl, tarball }) => {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-workspace-"));
  const env = environment(baseUrl);
  const write = (file: string, value: object): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), JSON.stringify(value));
  };
  try {
    const older = await olderVersion(tarball, folder, env);
    const versions = { newer: tarball, older };
    write("package.json", { type: "module", dependencies: { newer: "workspace:*", older: "workspace:*" } });
    writeFileSync(path.join(folder, "pnpm-workspace.yaml"), "packages: [packages/*]\n");
    for (const [name, file] of Object.entries(versions)) {
      const dependencies = { tunerank: `file:${file}` };
      write(`packages/${name}/package.json`, {
        name,
        version: "1.0.0",
        type: "module",
        main: "search.js",
        dependencies,
      });
      cpSync(here("pnpm-workspace/search.js"), path.join(folder, `packages/${name}/search.js`));
    }
    cpSync(here("pnpm-workspace/app.js"), path.join(folder, "app.js"));
    await printedBy([node24, tool("pnpm/bin/pnpm.cjs"), "install", "--offline"], folder, env);
    service.fail("scale", { code: "NOT_FOUND", times: 2 });
    const printed = await printedBy([node20, "app.js"], folder, env);
    const [, own = "", other = ""] =
      /^(\S+) (\S+) false\ntrue true\ntrue true\nParis Paris\n$/.exec(printed) ?? [];
    if (own === other || other !== "0.0.1") throw new Error(printed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return "two versions in one process know each other's errors, and both rank";
};

/** The same package under another version. */
async function olderVersion(tarball: string, folder: string, env: Record<string, string>): Promise<string> {
  const script = `mkdir old && tar -xzf "$1" -C old && sed -i 's/"version": "[^"]*"/"version": "0.0.1"/' old/package/package.json && tar -czf old.tgz -C old package && rm -r old`;
  await printedBy(["sh", "-c", script, "sh", tarball], folder, env);
  return path.join(folder, "old.tgz");
}

/** The program of Node with JavaScript, which finds the package without a node_modules. */
export const yarn: Program = async ({ service, baseUrl, tarball }) => {
  const cwd = mkdtempSync(path.join(tmpdir(), "tunerank-yarn-"));
  const env = { ...environment(baseUrl), HOME: cwd };
  const yarn = [node24, tool("@yarnpkg/cli-dist/bin/yarn.js")];
  const files = {
    "package.json": JSON.stringify({ type: "module", dependencies: { tunerank: `file:${tarball}` } }),
    ".yarnrc.yml": "enableNetwork: false\nenableTelemetry: false\n",
    "yarn.lock": "",
    "train.jsonl": '{"prompt":"a"}\n',
  };
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
    cpSync(placed("node-javascript"), cwd, { recursive: true });
    await printedBy([...yarn, "install"], cwd, env);
    service.fail("scale", { code: "NOT_FOUND" });
    const lines = (await printedBy([...yarn, "node", "main.js"], cwd, env)).trim().split("\n");
    equal(lines.slice(0, 2), ["Paris", "train.jsonl 15"]);
    equal([lines[2]?.slice(0, 11), existsSync(path.join(cwd, "node_modules"))], ["[NOT_FOUND]", false]);
    await printedBy([...yarn, "node", "--test"], cwd, env);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  return "ranks, uploads, shows a failure, and its tests pass, without a node_modules";
};

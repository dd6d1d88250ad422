// The guide, taken literally: its commands in a new folder with its files, on Node 20 and 22, compiled, and with pnpm.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type RefusingService, startRefusing } from "../../../test/support/refusals/server.js";
import { readResults, writeChunks } from "../support/engine.js";
import { until } from "../support/servers.js";

const here = fileURLToPath(new URL("..", import.meta.url));
const documented = (file: string): string => readFileSync(path.join(here, "documented", file), "utf8");
const [install = "", run = ""] = documented("temporal.sh").split("\n\n");
const compile = documented("temporalCompiled.sh");
const { dependencies } = JSON.parse(readFileSync(path.join(here, "package.json"), "utf8"));

let service: RefusingService;
let tarball = "";
const folders: string[] = [];
before(async () => {
  service = await startRefusing();
  const folder = newFolder();
  const packed = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const cwd = path.join(here, "node_modules/tunerank");
  tarball = path.join(folder, JSON.parse(execFileSync("npm", packed, { cwd, encoding: "utf8" }))[0].filename);
});
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  service.close();
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-guide-"));
  folders.push(folder);
  return folder;
}

/** The guide's commands, with the versions that this folder pins, and the package as it is here. */
function pinned(commands: string): string {
  return commands
    .replace(/(?<= )tunerank(?= )/, tarball)
    .replace(/(?<= )(@temporalio\/\w+|typescript|tsx)(?=\s)/g, (name) =>
      dependencies[name] ? `${name}@${dependencies[name]}` : name,
    );
}

interface Way {
  readonly commands: readonly string[];
  /** What comes first on the path. */
  readonly bin?: string;
}

const ways: Readonly<Record<string, Way>> = {
  "tsx on Node 20 or what runs this": { commands: [install, run] },
  "tsx on Node 22": { commands: [install, run], bin: "node_modules/node-22/bin" },
  "tsc into dist": { commands: [install, compile] },
  "tsx with pnpm": {
    // As the sentence below the commands says.
    commands: [
      install
        .replace("npm init -y", "pnpm init")
        .replace("npm pkg", "pnpm pkg")
        .replace("npm install --save-dev", "pnpm add -D")
        .replace("npm install", "pnpm add"),
      run,
    ],
    bin: "node_modules/.bin",
  },
};

for (const [name, { commands: given, bin }] of Object.entries(ways)) {
  test(`a worker by the guide: ${name}`, async () => {
    const folder = newFolder();
    const first = bin === undefined ? "" : `${path.join(here, bin)}:`;
    assert.ok(bin === undefined || existsSync(path.join(here, bin)), `${bin} is installed`);
    const env = {
      // With what this machine's registry clients need, and the address of the server.
      ...process.env,
      PATH: first + process.env.PATH,
      TUNERANK_BASE_URL: service.url,
      TUNERANK_API_KEY: "test-key",
      TUNERANK_ACCOUNT_ID: "acme",
    };
    for (const file of ["worker.ts", "workflows.ts", "chunks.ts", "bulk.ts", "temporal.ts"])
      cpSync(path.join(here, "documented", file), path.join(folder, file));
    const ids = writeChunks({ folder }, "requests", 3, 20);
    let printed = "";
    const start = (line: string): ChildProcess => {
      const child = spawn("sh", ["-e", "-c", `exec ${line}`], { cwd: folder, env, detached: true });
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data) => {
          printed += data;
        });
      return child;
    };
    const lines = given.flatMap((each) => pinned(each).trim().split("\n"));
    const last = lines.pop() ?? "";
    for (const line of lines) execFileSync("sh", ["-c", line], { cwd: folder, env, stdio: "pipe" });
    const worker = start(last);
    let ended = false;
    worker.once("exit", () => {
      ended = true;
    });
    await until(() => ended || printed.includes("RUNNING"));
    assert.ok(!ended, printed);
    printed = "";
    const asked = start(last.replace("worker", "bulk"));
    await new Promise((resolve) => asked.once("close", resolve));
    assert.match(printed, /60 ranked, 0 failed/);
    assert.deepEqual(
      readResults({ folder }, "requests")
        .map(({ id }) => id)
        .sort(),
      ids.sort(),
    );
    process.kill(-(worker.pid ?? 0), "SIGTERM");
    await until(() => ended);
  });
}

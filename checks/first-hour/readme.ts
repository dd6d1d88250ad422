// The README followed literally, by somebody who has nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bun, deno, equal, here, node20, node24, printedBy, tool, until } from "./processes.js";

const runs = {
  "Node 20": { "node first.mjs": node20 },
  "Node 24": { "node first.mjs": node24 },
  Bun: { "bun first.mjs": bun },
  Deno: { "deno run --allow-net --allow-env first.mjs": deno },
};

/** Runs its blocks in each runtime, with the commands that it names. */
export async function checkReadme(): Promise<string> {
  const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```(?:js|sh)\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const having = (words: string): string => blocks.find((block) => block.includes(words)) ?? "";
  equal(having("npm install"), "npm install tunerank\n");
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-readme-"));
  symlinkSync(here("node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), "{}\n");
  const first = having("const { data }") + having(".catch((error)");
  const programs = { "first.mjs": first, "test.mjs": having("tunerank/testing") };
  for (const [name, code] of Object.entries(programs)) writeFileSync(path.join(folder, name), code);
  cpSync(here("package.json"), path.join(folder, "package.json"));
  const commands = having("npx tunerank mock");
  const [, port = ""] = /^npx tunerank mock --port (\d+) &/m.exec(commands) ?? [];
  const [, settings = ""] = /^export (.*)$/m.exec(commands) ?? [];
  const env = Object.fromEntries(
    [...settings.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const mock = await startMock(folder, port);
  try {
    for (const run of Object.values(runs)) {
      for (const [command, program] of Object.entries(run)) {
        if (!commands.includes(command)) throw new Error(`The README does not say: ${command}`);
        const args = [program, ...command.split(" ").slice(1, -1)];
        const own = { PATH: process.env.PATH ?? "", HOME: folder, NO_COLOR: "1", ...env };
        const shell = ["sh", "-c", 'exec 2>&1; exec "$@"', "sh"];
        const printed = (name: string) => printedBy([...shell, ...args, name], folder, own);
        // What it shows of an error goes to stderr.
        const all = await printed("first.mjs");
        if (!/^1 0\.\d+\n\[INVALID_ARGUMENT\] .+\nbody no\n$/.test(all)) throw new Error(all);
        equal(await printed("test.mjs"), "2\n");
      }
    }
  } finally {
    mock.kill();
    rmSync(folder, { recursive: true });
  }
  return `a first call, an error and a test in ${Object.keys(runs).join(", ")}`;
}

async function startMock(cwd: string, port: string): Promise<ChildProcess> {
  const child = spawn(node20, [tool("tunerank/dist/cli/main.js"), "mock", "--port", port], {
    cwd,
    stdio: "pipe",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  await until(() => output.includes(port));
  return child;
}

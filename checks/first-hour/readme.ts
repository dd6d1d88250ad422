// The README followed literally, by somebody who has nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bun, deno, equal, node20, node24, tool, until } from "./processes.js";

// Each command that it names, with the runtime that is to run it.
const runs = {
  "node first.mjs": { "Node 20": node20, "Node 24": node24 },
  "bun first.mjs": { Bun: bun },
  "deno run --allow-net --allow-env first.mjs": { Deno: deno },
};

/** Pastes its blocks as they stand into two terminals, with each command that it names. */
export async function checkReadme(): Promise<string> {
  const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```(?:js|ts|sh)\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const having = (words: string): string => blocks.find((block) => block.includes(words)) ?? "";
  equal(having("npm install"), "npm install tunerank\n");
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-readme-"));
  // As npm installs it.
  mkdirSync(path.join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(tool("tunerank"), path.join(folder, "node_modules/tunerank"));
  symlinkSync(tool("tunerank/dist/cli/main.js"), path.join(folder, "node_modules/.bin/tunerank"));
  writeFileSync(path.join(folder, "package.json"), '{ "dependencies": { "tunerank": "*" } }\n');
  const [request = ""] = /^await client\.request\(.*/m.exec(having("client.request")) ?? [];
  const programs = {
    "first.mjs": having("const { data }") + having(".catch((error)"),
    "test.mjs": having("tunerank/testing"),
    "request.mjs": `import { createClient } from "tunerank";
const [client, query, documents] = [createClient(), "Paris", ["Rome"]];
${request}
console.log("done");
`,
  };
  for (const [name, code] of Object.entries(programs)) writeFileSync(path.join(folder, name), code);
  const mock = pasted(having("npx tunerank mock"), folder, node20);
  try {
    await until(() => mock.output.includes("http://127.0.0.1:4010") || mock.child.exitCode !== null);
    if (mock.child.exitCode !== null) throw new Error(`The mock of the README ended: ${mock.output}`);
    const first = having("node first.mjs");
    for (const [command, runtimes] of Object.entries(runs)) {
      if (!text.includes(command)) throw new Error(`The README does not say: ${command}`);
      for (const runtime of Object.values(runtimes)) {
        const printed = (name: string): Promise<string> => {
          const block = first.replace("node first.mjs", command.replace("first.mjs", name));
          return printedBy(pasted(block, folder, runtime));
        };
        const all = await printed("first.mjs");
        if (!/^1 0\.\d+\n\[INVALID_ARGUMENT\] .+\nno\n$/.test(all)) throw new Error(all);
        equal(await printed("test.mjs"), "2\n");
        equal(await printed("request.mjs"), "done\n");
      }
    }
  } finally {
    // With what it started.
    if (mock.child.exitCode === null) process.kill(-Number(mock.child.pid));
    rmSync(folder, { recursive: true });
  }
  return `a first call, an error, a test and another path in ${Object.values(runs).flatMap(Object.keys).join(", ")}`;
}

interface Terminal {
  readonly child: ChildProcess;
  output: string;
}

/** A terminal in which a block was pasted: its shell reads the next line while the one before runs. */
function pasted(block: string, cwd: string, runtime: string): Terminal {
  const bin = path.join(cwd, `bin-${path.basename(path.dirname(path.dirname(runtime)))}`);
  mkdirSync(bin, { recursive: true });
  const name = path.basename(runtime);
  rmSync(path.join(bin, name), { force: true });
  symlinkSync(realpathSync(runtime), path.join(bin, name));
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: cwd, NO_COLOR: "1" };
  const child = spawn("sh", ["-s"], { cwd, env, detached: true, stdio: "pipe" });
  const terminal: Terminal = { child, output: "" };
  // What a program shows of an error goes to stderr.
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      terminal.output += chunk;
    });
  child.stdin.end(block);
  return terminal;
}

async function printedBy(terminal: Terminal): Promise<string> {
  await new Promise((resolve) => terminal.child.once("close", resolve));
  return terminal.output;
}

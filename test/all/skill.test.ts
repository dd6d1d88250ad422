// The skill for coding agents says nothing that is not so: its commands, options and blocks, run against the mock.
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/cli/program.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { installPackedPackage, type PackedPackage } from "../support/packedPackage.js";
import { root, run, temporaryFolder } from "../support/project.js";

const service = createTestService();
let packed: PackedPackage;
let server: Awaited<ReturnType<typeof service.listen>>;
let skill = "";
let work: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  packed = await installPackedPackage();
  server = await service.listen();
  work = await temporaryFolder();
  skill = await readFile(path.join(packed.installed, "dist/skills/tunerank/SKILL.md"), "utf8");
  const request = JSON.stringify({ id: "1", query: "q", documents: ["a"] });
  const files: Record<string, string | Uint8Array> = {
    "articles.txt": "Reset your password here.\n",
    "requests.jsonl": `${request}\n`,
    "train.jsonl": "{}\n",
    "test.jsonl.gz": gzipSync("{}\n"),
    "bin/tunerank": `#!/bin/sh\nexec node ${packed.installed}/dist/cli/main.js "$@"\n`,
    "bin/npx": '#!/bin/sh\nexec "$@"\n',
  };
  await mkdir(path.join(work.folder, "bin"));
  await mkdir(path.join(work.folder, ".local/share/bash-completion/completions"), { recursive: true });
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(work.folder, name), content, { mode: 0o755 });
});
afterAll(async () => {
  await server.close();
  await packed.remove();
  await work.remove();
});

const blocks = (language: string): string[] =>
  [...skill.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text = ""]) => text);

/** Runs a block; a server is stopped when it says that it listens. */
async function runBlock(text: string): Promise<{ code: number | null; printed: string }> {
  // The address and the key are those of this mock; ports are free ones.
  const shell = text.replace(/^export .*$/m, "").replace(/--port \d+/, "--port 0");
  const env = {
    ...process.env,
    PATH: `${work.folder}/bin:${process.env.PATH}`,
    HOME: work.folder,
    TUNERANK_BASE_URL: server.url,
    TUNERANK_API_KEY: canaryKey,
    TUNERANK_ACCOUNT_ID: "acme",
  };
  const stdio = ["ignore", "pipe", "pipe"] as const;
  const child = spawn("sh", ["-ec", shell], { cwd: work.folder, env, stdio: [...stdio], detached: true });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
      if (/listens on|GET \/next/.test(printed) && child.pid) process.kill(-child.pid, "SIGTERM");
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, printed };
}

describe("SKILL.md", () => {
  test("has at most 1,500 words, and its name, description and version", () => {
    expect(skill.split(/\s+/).length).toBeLessThanOrEqual(1500);
    expect(skill).toMatch(
      /^---\nname: tunerank\ndescription: .{50,1024}\nmetadata:\n {2}version: "\d.*"\n---\n/,
    );
  });

  test("names only commands and options that exist, and an example of each command", () => {
    const named = [...skill.matchAll(/\btunerank ([a-z]+)((?: [^\n`|]*)?)/g)].filter(
      ([, , rest = ""]) => !rest.startsWith(" package"),
    );
    const shown = named.flatMap(([, name = "", rest = ""]) => {
      const command = commands.find((each) => each.name === name);
      if (command === undefined) return [];
      for (const [option] of rest.matchAll(/--[a-z][\w-]*/g))
        expect(
          command.options.map(({ long }) => long),
          `tunerank ${name} ${option}`,
        ).toContain(option);
      return [name];
    });
    expect([...new Set(shown)].sort()).toEqual(commands.map((command) => command.name).sort());
    for (const text of blocks("sh"))
      for (const [, name] of text.matchAll(/\btunerank ([\w-]+)/g))
        expect(commands.map((command) => command.name)).toContain(name);
  });

  test("every block of the shell runs against the mock", async () => {
    for (const text of blocks("sh")) {
      const { code, printed } = await runBlock(text);
      const isServer = /tunerank (mock|conformance)/.test(text);
      expect([text, printed, isServer || code === 0]).toEqual([text, printed, true]);
    }
    const operations = new Set(service.requests.map(({ operation }) => operation));
    expect(operations).toEqual(new Set(["rerank", "upload", "scale", "resume"]));
  });

  test("its program runs against the mock", async () => {
    const [text = ""] = blocks("ts");
    const file = path.join(packed.user, "skill.mts");
    await writeFile(file, text);
    const env = { TUNERANK_BASE_URL: server.url, TUNERANK_API_KEY: canaryKey, TUNERANK_ACCOUNT_ID: "acme" };
    const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
    const { stdout, stderr } = await run(process.execPath, [tsx, file], {
      cwd: packed.user,
      env: { ...process.env, ...env },
    });
    expect([stderr, stdout]).toEqual([
      "",
      expect.stringMatching(/^Paris is the capital of France\. 0\.\d+\n$/),
    ]);
  });

  test("is printed, installed, and never written over a file of somebody else", async () => {
    const main = path.join(packed.installed, "dist/cli/main.js");
    expect((await run(process.execPath, [main, "skill"])).stdout).toBe(skill);
    const skills = path.join(work.folder, "skills");
    const install = () => run(process.execPath, [main, "skill", "--install", skills]);
    expect((await install()).exitCode).toBe(0);
    expect((await install()).exitCode).toBe(0);
    expect(await readFile(path.join(skills, "tunerank/SKILL.md"), "utf8")).toBe(skill);
    const commands = path.join(skills, "tunerank/references/commands.md");
    await writeFile(commands, "mine");
    await writeFile(
      path.join(skills, "tunerank/SKILL.md"),
      "<!-- Written by `tunerank skill`: a later version writes over it. -->",
    );
    const refused = await install();
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("is not from tunerank")]);
    expect(await readFile(commands, "utf8")).toBe("mine");
    // Nothing was written, not even the files that it could have.
    expect((await readFile(path.join(skills, "tunerank/SKILL.md"), "utf8")).length).toBeLessThan(100);
  });
});

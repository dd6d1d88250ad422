import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type SlowCheckName, slowChecks } from "../../scripts/lastRuns.js";
import { type Outcome, root, run, temporaryFolder } from "../support/project.js";

const names = Object.keys(slowChecks) as SlowCheckName[];

describe("the table of slow checks", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

  test("has each script that checks something and that neither .ci/run nor `npm run prove` runs", () => {
    const ci = readFileSync(path.join(root, ".ci/run"), "utf8");
    const prove = readFileSync(path.join(root, "scripts/prove.ts"), "utf8");
    const checking = Object.keys(scripts).filter((name) => /^(check|test)(:|$)|^(mutate|bench)$/.test(name));
    const known = Object.values(slowChecks).map(({ command }) => command);
    const forgotten = checking.filter(
      (name) =>
        !new RegExp(`npm (run )?${name}( |$)`, "m").test(ci) &&
        !`${known.join("\n")}\n${prove}`.includes(`npm run ${name}`),
    );
    // It is a part of `npm run check`.
    expect(forgotten).toEqual(["check:breaking"]);
  });

  test.each(names)("%s runs a script that there is, and covers what there is", (name) => {
    const { command, minutes, covers } = slowChecks[name];
    const [, script = ""] = /^npm run ([\w:-]+)/.exec(command) ?? [];
    expect(Object.keys(scripts)).toContain(script);
    expect(minutes).toBeGreaterThan(0);
    for (const each of covers) expect(existsSync(path.join(root, each)), each).toBe(true);
  });

  test("`npm run prove` has each of them, and whatever it runs is there", async () => {
    const { stdout } = await run(process.execPath, ["--import", "tsx", "scripts/prove.ts", "--list"], {
      cwd: root,
    });
    expect(names.filter((name) => !stdout.includes(slowChecks[name].command))).toEqual([]);
    const started = [...stdout.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(started.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe("in a repository", () => {
  let folder: string;
  let remove: () => Promise<void>;
  const git = async (...args: string[]): Promise<string> => {
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    const { exitCode, stdout, stderr } = await run("git", [...author, ...args], { cwd: folder });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const commit = async (text: string): Promise<string> => {
    await git("add", "-A");
    await git("commit", "-qm", text);
    return git("rev-parse", "--short", "HEAD");
  };
  // It may run within `npm run prove` itself.
  const surroundings = () => ({ cwd: folder, env: { TUNERANK_PROVED: "" } });
  const script = (file: string, ...args: string[]): Promise<Outcome> =>
    run(
      process.execPath,
      ["--import", "tsx", path.join(folder, file.replace(/[^/]*$/, "scripts/$&.ts")), ...args],
      surroundings(),
    );
  const stale = (within = ""): Promise<Outcome> => script(`${within}prove`, "--stale");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  };
  const record = (...names: string[]): Promise<Outcome> => script("record", ...names);
  const recording = `import { recordRun } from "./lastRuns.js"; recordRun(...process.argv.slice(2).filter((name) => name[0] !== "-"));`;
  const lastRuns = (): Promise<string> => readFile(path.join(folder, "scripts/lastRuns.json"), "utf8");

  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
    for (const file of [
      ...["release", "lastRuns", "prove"].map((name) => `scripts/${name}.ts`),
      "src/call",
      "src/transport",
    ])
      await cp(path.join(root, file), path.join(folder, file), { recursive: true });
    for (const file of ["results.js", "results.d.ts"])
      await cp(path.join(root, "bench", file), path.join(folder, "bench", file));
    await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
    await write("package.json", JSON.stringify({ type: "module", version: "1.2.3" }));
    await write("CHANGELOG.md", "# Changelog\n\n## 1.2.3\n\n## 1.2.2\n");
    for (const file of ["openapi.yaml", "contract/baseline/openapi.yaml"])
      await write(file, "openapi: 3.1.0\n");
    await write(".gitignore", "node_modules\nreports/\n");
    await write("scripts/record.ts", recording);
    await write("src/policy/retry.ts", "export const times = 1;\n");
    await write("scripts/lastRuns.json", "{}\n");
    await git("init", "-q", "-b", "main");
    await commit("first");
  });
  afterEach(() => remove());

  test("a whole run is recorded with its commit and date, until what it covers changes", async () => {
    const first = await git("rev-parse", "HEAD");
    const told = `mutation: no whole run is recorded. Run it: ${slowChecks.mutation.command}\n`;
    expect(await stale()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(told) });
    expect((await record("mutation")).exitCode).toBe(0);
    const commitAndDate = `"commit": "${first.slice(0, 12)}", "date": "${new Date().toISOString().slice(0, 10)}"`;
    expect(await lastRuns()).toMatch(
      new RegExp(`^{\\n  "mutation": { ${commitAndDate}, "sources": "[\\da-f]{16}" }\\n}\\n$`),
    );
    await commit("a run is recorded");
    await write("src/other.ts", "");
    await commit("what it does not cover");
    expect((await stale()).stdout).not.toContain("mutation:");
    await write("src/policy/retry.ts", "export const times = 2;\n");
    const changed = await commit("what it covers");
    expect((await stale()).stdout).toMatch(
      new RegExp(
        `mutation: last run whole on [\\d-]{10} at ${first.slice(0, 12)}; 1 commit since, the newest ${changed}`,
      ),
    );
    const clone = path.join(folder, "clone");
    await git("clone", "-q", "--depth", "1", `file://${folder}`, clone);
    await symlink(path.join(root, "node_modules"), path.join(clone, "node_modules"), "junction");
    const shallow = await stale("clone/");
    expect(shallow.stdout).toMatch(
      /mutation: last run whole on .*; what it covers has changed since \(this clone lacks that commit\)/,
    );
    await git("revert", "--no-edit", "HEAD");
    expect((await stale()).stdout).not.toContain("mutation:");
  });

  test("what is changed while a check runs is not what it covered, and not recorded unless committed", async () => {
    const first = await git("rev-parse", "HEAD");
    const running = `import { execSync } from "node:child_process";
      import { recordRun } from "./lastRuns.js";
      recordRun("mutation");
      execSync("git -c user.name=a -c user.email=a@example.com commit -qam meanwhile", { cwd: import.meta.dirname });
      recordRun("mutation");`;
    await write("scripts/running.ts", running);
    await git("add", "scripts/running.ts");
    await write("src/policy/retry.ts", "export const times = 2;\n");
    const { exitCode, stdout } = await script("running");
    expect([exitCode, ...stdout.trim().split("\n")]).toEqual([
      0,
      "mutation is not recorded: src/policy/retry.ts is not committed.",
      "scripts/lastRuns.json says that mutation ran whole: commit it.",
    ]);
    expect(await lastRuns()).toContain(`"commit": "${first.slice(0, 12)}"`);
    expect((await stale()).stdout).toContain("mutation: last run whole on");
  });

  test("a release is refused while one is stale, and not when all ran", async () => {
    await record(...names.slice(1));
    const { exitCode, stderr } = await script("release");
    expect(exitCode).toBe(1);
    expect(stderr.match(/no whole run/g)).toHaveLength(1);
    await record(names[0] ?? "");
    expect(await script("release")).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await stale()).stdout).toBe("Every slow check ran whole with what it covers.\n");
    await rm(path.join(folder, ".git"), { recursive: true });
    const stdout = expect.stringContaining(
      "There is no Git repository here, so nobody knows which slow checks are older than what they cover.\n",
    );
    expect(await stale()).toMatchObject({ exitCode: 0, stdout });
    expect(await script("release")).toMatchObject({ exitCode: 0, stdout });
  });

  test("a release is refused whose contract or version is not the one that is announced", async () => {
    await record(...names);
    await write("openapi.yaml", "openapi: 3.1.1\n");
    await write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 1.2.3\n");
    const { exitCode, stderr } = await script("release");
    expect([exitCode, ...stderr.trim().split("\n")]).toEqual([
      1,
      "CHANGELOG.md begins with Unreleased, package.json has 1.2.3.",
      "contract/baseline/openapi.yaml is not openapi.yaml: copy it, and run `npm run generate`.",
    ]);
  });

  test("the words of a page break nothing, its code may", async () => {
    const page = "docs/guide/beyond-one-machine.md";
    await write(page, "Words.\n\n```sh\nls\n```\n");
    await commit("a page");
    await record("temporal");
    await write(page, "Other words.\n\n```sh\nls\n```\n");
    await write("CHANGELOG.md", "Changed.\n");
    await commit("words");
    expect((await stale()).stdout).not.toContain("temporal:");
    await write(page, "Words.\n\n```sh\nls -a\n```\n");
    await commit("code");
    expect((await stale()).stdout).toContain("temporal: last run whole on");
  });

  test("prove runs all, records at its end what ran whole, and goes on at the same commit only", async () => {
    const command = (name: string) => `node --import tsx scripts/record.ts ${name}`;
    const scripts = Object.fromEntries(
      ["test:all", "check:integrations", "docs", "test:docs", "bench", "check:first-hour", "check:generators"]
        .concat("check:package", "test:proxies", "check:runtimes")
        .map((name) => [name, "true"]),
    );
    const failing = { ...scripts, mutate: command("mutation"), "check:generators": "exit 3" };
    await write("package.json", JSON.stringify({ type: "module", scripts: failing }));
    await write(".ci/run", "true\n");
    await write("docs/public/outage.svg", "<svg></svg>\n");
    const first = await commit("a project");
    const failed = await script("prove");
    expect(failed.exitCode).toBe(1);
    const table = failed.stdout.split("\n\n").at(-1) ?? "";
    expect(table.split("\n")).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ci +\d\.\d min of +\d+ {2}held$/),
        expect.stringMatching(/^generators +\d\.\d min of +\d+ {2}FAILED$/),
      ]),
    );
    expect(JSON.parse(await lastRuns())).toMatchObject({
      mutation: { commit: expect.stringMatching(first) },
    });
    await write("docs/public/outage.svg", "<svg/>\n");
    const rest = await script("prove", "--from", "temporal");
    expect(rest.stdout.match(/^== /gm)).toHaveLength(3);
    expect(rest.stdout).toMatch(/^ci .*held$/m);
    expect(Object.keys(JSON.parse(await lastRuns()))).toEqual(["mutation"]);
    await write("src/policy/retry.ts", "export const times = 2;\n");
    const changed = await script("prove", "--from", "temporal");
    expect(changed.stderr).toContain("Commit first: one commit is proved.");
    await commit("recorded");
    expect((await script("prove", "--from", "temporal")).stderr).toContain(`The last run proved ${first}`);
  });
});

import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { program } from "../support/commandLine.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { next, post, startRunner } from "../support/conformance/runner.js";
import { root, run, temporaryFolder } from "../support/project.js";
import { listen } from "../support/servers.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

// What is told of a run: the badge, JUnit XML, and the recipe for CI.
const file = useTemporaryFile(new Uint8Array());
const success = "retries/success-at-once/scaleDeployment";
test("the badge says what passed, what was not asked for, and what the client lacks", async () => {
  const { url, outcome, report } = await startRunner(
    "--only",
    "proxy/http/scale",
    "--only",
    success,
    "--badge",
    file,
  );
  await certifyOwnClient(url, undefined, ["proxy"]);
  expect((await outcome).exitCode).toBe(0);
  const svg = await readFile(file, "utf8");
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(svg).toContain(`conformance ${(await report()).revision}: 1 passed, 1 skipped`);
  expect(svg).toMatch(/, \d{4} not asked for.*, without proxies<.*#59636e/s);
});

test("JUnit XML has a case for each row, and its marks are escaped", async () => {
  const rows = [
    "--only",
    "retries/key-in-message/rerank",
    "--only",
    "success-at-once/",
    "--except",
    "Dataset",
  ];
  const { url, outcome } = await startRunner(...rows, "--timeout", "3", "--junit", file);
  const first = await next(url);
  await post(url, { id: first.id, code: "UNKNOWN", executed: "no", attempts: 1, message: '<"&\u0000' });
  await next(url);
  expect((await outcome).exitCode).toBe(1);
  const xml = await readFile(file, "utf8");
  expect(xml).toContain('<testsuites tests="4" failures="2" errors="2" skipped="0">');
  expect(xml).toContain('<testcase classname="retries" name="success-at-once/rerankDocuments"');
  expect(xml).toContain('<error message="never served"/>');
  expect(xml).toContain("no outcome was posted");
  expect(xml).not.toMatch(/&(?!#\d+;)|\0/);
});

test("the guide's recipe for GitHub Actions has ten lines, fails with the runner, and keeps what was written", async () => {
  const guide = await readFile(path.join(root, "docs/guide/certify.md"), "utf8");
  const [, recipe = ""] = /```yaml [^\n]*conformance\.yml[^\n]*\n(.*?)\n```/s.exec(guide) ?? [];
  expect(recipe.split("\n").length).toBeLessThanOrEqual(10);
  const { jobs } = parse(recipe) as { jobs: { conformance: { steps: readonly Step[] } } };
  const [checkout, { run: script = "" } = {}, upload] = jobs.conformance.steps;
  expect(checkout).toEqual({ uses: "actions/checkout@v7" });
  expect(upload).toMatchObject({ if: "always()", uses: "actions/upload-artifact@v7" });
  const kept = (folder: string): Promise<Record<string, string>> => filesOf(folder, upload?.with?.path ?? "");
  const good = await runStep(script, "certifyOwnClient(process.argv[2])");
  expect(good.exitCode).toBe(0);
  const { "conformance.json": json = "", ...pictures } = await kept(good.folder);
  expect(JSON.parse(json)).toMatchObject({ passed: 1, failed: 0 });
  expect(pictures).toEqual({
    "conformance.xml": expect.stringContaining('tests="1" failures="0"'),
    "conformance.svg": expect.stringContaining("1 passed"),
  });
  const bad = await runStep(script, 'fetch(process.argv[2] + "/next")');
  expect(bad.exitCode).toBe(1);
  expect((await kept(bad.folder))["conformance.xml"]).toContain('failures="1"');
});

interface Step {
  readonly run?: string;
  readonly with?: { readonly path: string };
}

// A path as upload-artifact takes it: a name that ends in a star.
async function filesOf(folder: string, star: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(star.slice(0, -1)));
  const files = names.map(async (name) => [name, await readFile(path.join(folder, name), "utf8")] as const);
  return Object.fromEntries(await Promise.all(files));
}

// As GitHub runs it, with programs of those names on the path.
async function runStep(
  script: string,
  client: string,
): Promise<{ readonly exitCode: number | null; readonly folder: string }> {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const server = createServer();
  const port = await listen(server);
  server.close();
  const own = path.join(root, "test/support/conformance/certifyOwnClient.ts");
  await writeFile(
    path.join(folder, "client.mts"),
    `import { certifyOwnClient } from "${own}";\nawait ${client};\n`,
  );
  const node = `exec "${process.execPath}"`;
  const served = `--port ${port} --only ${success} --timeout 3`;
  const programs = {
    npx: `shift; ${node} "${program}" "$@" ${served}`,
    python: `cd "${root}"; ${node} --conditions=tunerank-source --import tsx "${folder}/client.mts" "$2"`,
  };
  for (const [name, text] of Object.entries(programs))
    await writeFile(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const step = script.replaceAll(":4020", `:${port}`);
  const { exitCode } = await run("bash", ["-eo", "pipefail", "-c", step], { cwd: folder, env });
  return { exitCode, folder };
}

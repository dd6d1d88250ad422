import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeRevision } from "../../scripts/build/revision.js";
import {
  breakingChanges,
  clientFormChanges,
  harmlessChanges,
  type Part,
} from "../support/contractChanges.js";
import { copyProject, type Outcome, root, run, temporaryFolder } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

const { folder, remove } = await temporaryFolder();
const contract = path.join(root, "openapi.yaml");
const stricter = path.join(folder, "stricter.yaml");
const text = await readFile(contract, "utf8");
const changed = text.replace("required: [query, documents]", "required: [query, documents, model]");
await writeFile(stricter, changed);
afterAll(remove);

async function check(cwd: string, ...args: string[]): Promise<Outcome> {
  return await run(process.execPath, ["--import", "tsx", "scripts/breaking.ts", ...args], { cwd });
}

/** A copy of the project whose own contract is the last release. */
async function releasedCopy(name: string): Promise<string> {
  const project = path.join(folder, name);
  await copyProject(project);
  await writeFile(path.join(project, "contract/baseline/openapi.yaml"), text);
  await writeRevision(project, path.join(project, "contract/revisions"));
  return project;
}

test("a contract that breaks callers fails, and says what, where and for whom", async () => {
  expect(await check(root, contract, stricter)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "RerankRequest.model, in requests: is now required. Breaks callers (rerankDocuments).\n",
  });
});

test("a contract beside itself breaks nobody", async () => {
  const outcome = await check(root, contract, contract);
  expect(outcome).toEqual({ exitCode: 0, stdout: "Nothing breaks.\n", stderr: "" });
});

test("without names the contract is compared with the last released one", async () => {
  const project = await releasedCopy("project");
  await writeFile(path.join(project, "openapi.yaml"), changed);
  expect(await check(project)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^RerankRequest\.model/),
  });
  await writeFile(path.join(project, "openapi.yaml"), text);
  expect(await check(project)).toMatchObject({ exitCode: 0, stdout: "Nothing breaks.\n" });
});

test("a break is taken once the revision may break and the changelog tells of it", async () => {
  const project = await releasedCopy("revised");
  const next = changed.replace(/x-contract-revision: .*/, "x-contract-revision: 9.0.0");
  await writeFile(path.join(project, "openapi.yaml"), changed);
  expect((await check(project)).stderr).toMatch(
    /x-contract-revision was .*: raise it to one that may break\.\n$/,
  );
  await writeFile(path.join(project, "openapi.yaml"), next);
  expect(await check(project)).toMatchObject({
    exitCode: 1,
    stderr: "The changelog of the contract is stale. Run `npm run check:breaking -- --changelog`.\n",
  });
  expect(await check(project, "--changelog")).toMatchObject({ exitCode: 0, stderr: "" });
  const changelog = await readFile(path.join(project, "contract/CONTRACT-CHANGELOG.md"), "utf8");
  expect(changelog).toMatch(
    /\n## 9\.0\.0\n\n<!-- .* -->\n\n\*\*Breaking\*\*\n\n- RerankRequest\.model, in requests: is now required\. Breaks callers \(rerankDocuments\)\.\n\n<!-- end -->\n\n## /,
  );
  expect(await check(project)).toMatchObject({ exitCode: 0, stderr: "" });
  await check(project, "--changelog");
  expect(await readFile(path.join(project, "contract/CONTRACT-CHANGELOG.md"), "utf8")).toBe(changelog);
});

test("the contract's own changelog tells what changed since the last release", async () => {
  expect(await check(root)).toMatchObject({ exitCode: 0, stderr: "" });
});

test("the changes between two named contracts are shown, what is new among them", async () => {
  const { stdout, exitCode } = await check(root, "--changelog", contract, contract);
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("Texts and examples"),
  });
  const wider = path.join(folder, "wider.yaml");
  await writeFile(
    wider,
    text.replace("    RerankUsage:\n", "    Another:\n      type: string\n    RerankUsage:\n"),
  );
  expect((await check(root, "--changelog", contract, wider)).stdout).toContain(
    "**Added**\n\n- schema `Another`\n",
  );
});

test("two named contracts are compared as the own one is with the last release", async () => {
  const project = await releasedCopy("both");
  const next = path.join(project, "openapi.yaml");
  const lines = [
    ["x-sdk-method: deployments.scale", "x-sdk-method: deployments.resize"],
    ["x-retry: set", "x-retry: append"],
    ["x-max-response-bytes: 67108864", "x-max-response-bytes: 1048576"],
    ["x-timeout-ms: 60000", "x-timeout-ms: 50000"],
    ["          description: A description of the task", "          deprecated: true\n$&"],
  ] as const;
  for (const [line] of lines) expect(text).toContain(line);
  await writeFile(
    next,
    lines.reduce((changed, [line, other]) => changed.replace(line, other), text),
  );
  const [named, own] = [await check(root, contract, next), await check(project)];
  expect(named.stderr.split("\n")).toEqual([
    "x-timeout-ms: was 60000, is 50000. Breaks callers (rerankDocuments).",
    "x-max-response-bytes: was 67108864, is 1048576. Breaks readers of answers (rerankDocuments).",
    "x-sdk-method: was deployments.scale, is deployments.resize. Breaks users of generated code (scaleDeployment).",
    "x-retry: was set, is append. Breaks certified clients (scaleDeployment).",
    "x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (scaleDeployment).",
    "",
  ]);
  expect(own.stderr.startsWith(named.stderr)).toBe(true);
  for (const { stdout, exitCode } of [named, own])
    expect([exitCode, stdout]).toEqual([1, "Deprecated: field `RerankRequest.task`.\n"]);
});

test("one name is refused", async () => {
  const outcome = await check(root, contract);
  expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
  expect(outcome.stderr).toContain("the old one and the new one");
});

const places = [...(process.env.PATH ?? "").split(path.delimiter), path.join(homedir(), "go", "bin")];
const oasdiff = places.map((place) => path.join(place, "oasdiff")).find((file) => existsSync(file));
if (oasdiff === undefined) {
  console.warn(
    "SKIPPED: no second opinion on breaking changes. go install github.com/oasdiff/oasdiff@v1.32.0",
  );
}

const strict = JSON.stringify(parse(readFileSync(path.join(root, "openapi.yaml"), "utf8")));
const clients = (await publishContract()).text("openapi-client-3.0.json");

async function opinionOn(text: string, change: (d: Part) => void): Promise<"breaks" | "warns" | "silent"> {
  const changed = JSON.parse(text);
  change(changed);
  const [before, after] = [path.join(folder, "before.json"), path.join(folder, "after.json")] as const;
  await writeFile(before, text);
  await writeFile(after, JSON.stringify(changed));
  const args = ["breaking", before, after, "--fail-on", "ERR", "--format", "singleline"];
  const { exitCode, stdout, stderr } = await run(oasdiff ?? "", args);
  expect([0, 1], stderr).toContain(exitCode);
  if (exitCode === 1) return "breaks";
  return stdout.startsWith("1 changes: 0 error, 1 warning") ? "warns" : "silent";
}

// The table says where it differs from oasdiff 1.32.0, so that no difference goes unseen.
describe.skipIf(oasdiff === undefined)("oasdiff, as a second opinion, on", () => {
  test.each(breakingChanges)("$name", async ({ change, oasdiff: differing }) => {
    expect(await opinionOn(strict, change)).toBe(differing);
  });

  test.each(harmlessChanges)("$name", async ({ change, oasdiff: differing }) => {
    expect((await opinionOn(strict, change)) === "breaks").toBe(differing === "breaks");
  });

  test.each(clientFormChanges)(
    "the form for clients in OpenAPI 3.0: $name",
    async ({ change, oasdiff: differing }) => {
      expect(await opinionOn(clients, change)).toBe(differing);
    },
  );
});

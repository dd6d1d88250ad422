import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyProject, type Outcome, root, run, temporaryFolder } from "../support/project.js";

let copy: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  copy = await temporaryFolder();
  await copyProject(copy.folder);
});
afterAll(() => copy.remove());

function check(folder: string): Promise<Outcome> {
  return run(
    process.execPath,
    ["--conditions=tunerank-source", "--import", "tsx", "scripts/generate/run.ts", "--check"],
    { cwd: folder },
  );
}

test("the generated files are what the contract says now", async () => {
  const { exitCode, stdout, stderr } = await check(root);
  expect({ exitCode, stdout, stderr }).toMatchObject({
    exitCode: 0,
    stdout: "All that is generated is up to date.\n",
  });
});

test("a changed contract makes the check fail, and it names the command to run", async () => {
  const contract = path.join(copy.folder, "openapi.yaml");
  const text = await readFile(contract, "utf8");
  await writeFile(contract, text.replace("NOT_FOUND: 404", "NOT_FOUND: 410"));
  await appendFile(path.join(copy.folder, "src/generated/version.ts"), "// changed by hand\n");
  const { exitCode, stderr } = await check(copy.folder);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("src/generated/contract.ts");
  expect(stderr).toContain("src/generated/version.ts");
  expect(stderr).not.toContain("src/generated/types.ts");
  expect(stderr).toContain("npm run generate");
});

test("what is not supported ends the command with one sentence, which names the line", async () => {
  const contract = path.join(copy.folder, "openapi.yaml");
  const text = await readFile(contract, "utf8");
  const changed = text.replace(/^( {4}DatasetId:\n {6}name: dataset_id\n {6}in: )path$/m, "$1cookie");
  const line = changed.split("\n").findIndex((each) => each.endsWith("in: cookie")) + 1;
  expect(line).toBeGreaterThan(0);
  await writeFile(contract, changed);
  const { exitCode, stdout, stderr } = await check(copy.folder);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `openapi.yaml:${line}: uploadDatasetFile has the cookie parameter dataset_id, which is not supported. Teach it to scripts/generate/operations.ts.\n`,
  });
});

test("what would change a released revision ends it so too", async () => {
  const revision = /^ {2}x-contract-revision: .*$/m;
  const [text, baseline] = await Promise.all(
    ["openapi.yaml", "contract/baseline/openapi.yaml"].map((name) => readFile(path.join(root, name), "utf8")),
  );
  const [released = ""] = revision.exec(baseline ?? "") ?? [];
  await writeFile(path.join(copy.folder, "openapi.yaml"), text?.replace(revision, released) ?? "");
  const { exitCode, stderr } = await check(copy.folder);
  const line = text?.split(revision)[0]?.split("\n").length;
  expect(stderr).toMatch(
    /^\S+ [\d.]+ is released and contract\/revisions\/\S+ would change: raise x-contract-revision\.\n$/,
  );
  expect(stderr).toContain(`openapi.yaml:${line}: `);
  expect(exitCode).toBe(1);
});

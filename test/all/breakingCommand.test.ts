import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { copyProject, type Outcome, root, run, temporaryFolder } from "../support/project.js";

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

test("a contract that breaks callers fails, and says what, where and for whom", async () => {
  expect(await check(root, contract, stricter)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "RerankRequest.model, in requests: is now required. Breaks callers (rerankDocuments).\n",
  });
});

test("the other way round it breaks nobody", async () => {
  const outcome = await check(root, stricter, contract);
  expect(outcome).toEqual({ exitCode: 0, stdout: "Nothing breaks.\n", stderr: "" });
});

test("without names the contract is compared with the last released one", async () => {
  const project = path.join(folder, "project");
  await copyProject(project);
  await writeFile(path.join(project, "contract/baseline/openapi.yaml"), text);
  await writeFile(path.join(project, "openapi.yaml"), changed);
  expect(await check(project)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^RerankRequest\.model/),
  });
  await writeFile(path.join(project, "openapi.yaml"), text);
  expect(await check(project)).toMatchObject({ exitCode: 0, stdout: "Nothing breaks.\n" });
});

test("one name is refused", async () => {
  const outcome = await check(root, contract);
  expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
  expect(outcome.stderr).toContain("the old one and the new one");
});

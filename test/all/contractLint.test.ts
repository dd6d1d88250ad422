import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { copyProject, root, run, temporaryFolder } from "../support/project.js";

const { folder, remove } = await temporaryFolder();
const text = await readFile(path.join(root, "openapi.yaml"), "utf8");
await copyProject(folder);
afterAll(remove);

// Each fault by itself, and what lint says of it.
const faults: readonly (readonly [name: string, from: string | RegExp, to: string, message: string])[] = [
  [
    "a name that generators derive",
    /\bDatasetFile\b/g,
    "UploadDatasetFileResponse",
    'Generators derive "Upload',
  ],
  ["an integer without a size", "          format: int64\n", "", "32 bits to generators"],
  ["a description that repeats a name", "When the job was created.", "Create time.", "only repeats its name"],
  ["a title with commas", "Training Deployment", "Training, Deployment", "letters and spaces"],
  ["no revision", / {2}x-contract-revision: .*\n/, "", "revision of its own"],
  ["a constant without its enumeration", "- PurposePilot", "- Pilot", "begins with Purpose"],
  ["a schema without a source", "      x-source: Errors\n", "", 'interface document in "x-source"'],
  ["a citation", "What to search for.", "See the interface document.", "Readers cannot get"],
];

test("the contract has none of these faults, and lint names each", async () => {
  const faulty = faults.reduce((whole, [, from, to]) => {
    const changed = whole.replace(from, to);
    expect(changed).not.toBe(whole);
    return changed;
  }, text);
  await writeFile(path.join(folder, "openapi.yaml"), faulty);
  const redocly = path.join(root, "node_modules/.bin/redocly");
  const { exitCode, stdout, stderr } = await run(redocly, ["lint", "--format=json", "openapi.yaml"], {
    cwd: folder,
  });
  expect(exitCode).toBe(1);
  const told = `${stdout}${stderr}`.replaceAll('\\"', '"');
  for (const [, , , message] of faults) expect(told).toContain(message);
});

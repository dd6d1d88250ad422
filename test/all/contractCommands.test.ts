// What a person runs who changes the contract: lint, generate, check:breaking (CI runs them on the contract itself); and the
// revisions that releases keep.
import { createHash } from "node:crypto";
import { appendFile, cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeRevision } from "../../scripts/build/contract.js";
import { contract as parsed, unreleased } from "../support/contract.js";
import { copyProject, type Outcome, root, run, temporaryFolder } from "../support/project.js";

const contract = path.join(root, "openapi.yaml");
const text = await readFile(contract, "utf8");
const changed = text.replace("required: [query, documents]", "required: [query, documents, model]");
const inRoot = (file: string): Promise<string> => readFile(path.join(root, file), "utf8");
const { folder, remove } = await temporaryFolder();
afterAll(remove);

const ofScript = (script: string, cwd: string, ...args: string[]): Promise<Outcome> =>
  run(
    process.execPath,
    ["--conditions=tunerank-source", "--import", "tsx", `scripts/${script}.ts`, ...args],
    {
      cwd,
    },
  );

/** Writes the contract of a copy, with something else in it. @returns its text */
async function change(project: string, from: string | RegExp, to: string): Promise<string> {
  const other = text.replace(from, to);
  expect(other).not.toBe(text);
  await writeFile(path.join(project, "openapi.yaml"), other);
  return other;
}

describe("in a copy of the project", () => {
  const copy = path.join(folder, "copy");
  const otherCode = text.replace("NOT_FOUND: 404", "NOT_FOUND: 410");
  beforeAll(() => copyProject(copy));

  test("lint names each fault of the contract", async () => {
    const faults: readonly (readonly [from: string | RegExp, to: string, message: string])[] = [
      [/\bDatasetFile\b/g, "UploadDatasetFileResponse", 'Generators derive "Upload'],
      ["          format: int64\n", "", "32 bits to generators"],
      ["When the job was created.", "Create time.", "only repeats its name"],
      ["Training Deployment", "Training, Deployment", "letters and spaces"],
      [/ {2}x-contract-revision: .*\n/, "", "revision of its own"],
      ["- PurposePilot", "- Pilot", "begins with Purpose"],
      ["      x-source: Errors\n", "", 'interface document in "x-source"'],
      ["What to search for.", "See the interface document.", "Readers cannot get"],
    ];
    const faulty = faults.reduce((whole, [from, to]) => {
      const other = whole.replace(from, to);
      expect(other).not.toBe(whole);
      return other;
    }, text);
    await writeFile(path.join(copy, "openapi.yaml"), faulty);
    const redocly = path.join(root, "node_modules/.bin/redocly");
    const { exitCode, stdout, stderr } = await run(redocly, ["lint", "--format=json", "openapi.yaml"], {
      cwd: copy,
    });
    expect(exitCode).toBe(1);
    const told = `${stdout}${stderr}`.replaceAll('\\"', '"');
    for (const [, , message] of faults) expect(told).toContain(message);
  });

  test("generate --check names what is stale, and the command to run", async () => {
    await writeFile(path.join(copy, "openapi.yaml"), unreleased(otherCode));
    await appendFile(path.join(copy, "src/generated/version.ts"), "// changed by hand\n");
    const { exitCode, stderr } = await ofScript("generate/run", copy, "--check");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("src/generated/contract.ts");
    expect(stderr).toContain("src/generated/version.ts");
    expect(stderr).not.toContain("src/generated/types.ts");
    expect(stderr).toContain("npm run generate");
  });

  test("what is not supported ends it with one sentence, which names the line", async () => {
    const form = /^( {4}DatasetId:\n {6}name: dataset_id\n {6}in: )path$/m;
    const lines = (await change(copy, form, "$1cookie")).split("\n");
    const line = lines.findIndex((each) => each.endsWith("in: cookie")) + 1;
    expect(await ofScript("generate/run", copy, "--check")).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `openapi.yaml:${line}: uploadDatasetFile has the cookie parameter dataset_id, which is not supported. Teach it to scripts/generate/operations.ts.\n`,
    });
  });

  test("what would change a released revision ends it so too", async () => {
    const revision = /^ {2}x-contract-revision: .*$/m;
    const [released = ""] = revision.exec(await inRoot("contract/baseline/openapi.yaml")) ?? [];
    await writeFile(path.join(copy, "openapi.yaml"), otherCode.replace(revision, released));
    const { exitCode, stderr } = await ofScript("generate/run", copy, "--check");
    expect(stderr).toMatch(
      /^\S+ [\d.]+ is released and contract\/revisions\/\S+ would change: raise x-contract-revision\.\n$/,
    );
    expect(stderr).toContain(`openapi.yaml:${text.split(revision)[0]?.split("\n").length}: `);
    expect(exitCode).toBe(1);
  });
});

describe("check:breaking", () => {
  const check = (cwd: string, ...args: string[]) => ofScript("breaking", cwd, ...args);
  // A copy of the project whose own contract is the last release.
  let project: string;
  let copies = 0;
  beforeEach(async () => {
    project = path.join(folder, `released${copies++}`);
    await copyProject(project);
    await writeFile(path.join(project, "contract/baseline/openapi.yaml"), text);
    await writeRevision(project, path.join(project, "contract/revisions"));
  });

  test("a contract beside itself breaks nobody", async () => {
    const nothing = { exitCode: 0, stdout: "Nothing breaks.\n", stderr: "" };
    expect(await check(root, contract, contract)).toEqual(nothing);
    const outcome = await check(root, contract);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toContain("the old one and the new one");
    expect(await check(project)).toEqual(nothing);
  });

  test("takes a break once the revision may break and the changelog tells of it", async () => {
    const next = unreleased(changed);
    await writeFile(path.join(project, "openapi.yaml"), changed);
    const { stderr } = await check(project);
    expect(stderr).toMatch(/^RerankRequest\.model/);
    expect(stderr).toMatch(/x-contract-revision was .*: raise it to one that may break\.\n$/);
    await writeFile(path.join(project, "openapi.yaml"), next);
    expect(await check(project)).toMatchObject({
      exitCode: 1,
      stderr: "The changelog of the contract is stale. Run `npm run check:breaking -- --changelog`.\n",
    });
    expect(await check(project, "--changelog")).toMatchObject({ exitCode: 0, stderr: "" });
    const changelog = path.join(project, "contract/CONTRACT-CHANGELOG.md");
    const written = await readFile(changelog, "utf8");
    expect(written).toMatch(
      /\n## 9\.0\.0\n\n<!-- .* -->\n\n\*\*Breaking\*\*\n\n- RerankRequest\.model, in requests: is now required\. Breaks callers \(rerankDocuments\)\.\n\n<!-- end -->\n\n## /,
    );
    expect(await check(project)).toMatchObject({ exitCode: 0, stderr: "" });
    await check(project, "--changelog");
    expect(await readFile(changelog, "utf8")).toBe(written);
  });

  test("shows the changes between two named contracts, what is new among them", async () => {
    const { stdout, exitCode } = await check(root, "--changelog", contract, contract);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("Texts and examples")]);
    const usage = "    RerankUsage:\n";
    await change(project, usage, `    Another:\n      type: string\n${usage}`);
    const wider = await check(root, "--changelog", contract, path.join(project, "openapi.yaml"));
    expect(wider.stdout).toContain("**Added**\n\n- schema `Another`\n");
  });

  test("compares two named contracts as it does the own one with the last release", async () => {
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
      lines.reduce((other, [line, instead]) => other.replace(line, instead), text),
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
});

const own = parsed.info["x-contract-revision"];
const kept = await readdir(path.join(root, "contract/revisions"));
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("the revisions", () => {
  // As the build writes its own, beside those that are kept.
  const revisions = path.join(folder, "revisions");
  beforeAll(async () => {
    await cp(path.join(root, "contract/revisions"), revisions, { recursive: true });
    await writeRevision(root, revisions);
  });

  test("that of the last release is kept; one that is not kept is a draft, which the package carries", async () => {
    const released = parse(await inRoot("contract/baseline/openapi.yaml")).info["x-contract-revision"];
    expect(kept).toContain(released);
    expect(kept.includes(own)).toBe(own === released);
    const changelog = await inRoot("contract/CONTRACT-CHANGELOG.md");
    const draft = `\n## ${own}\n\nA draft: no released package carries it yet.\n`;
    expect(changelog.includes(draft)).toBe(!kept.includes(own));
    expect(JSON.parse(await inRoot("package.json"))["x-contract-revision"]).toBe(own);
  });

  test.each(kept)("%s is final: its sums are those that its changelog has", async (revision) => {
    const sums = await readFile(path.join(revisions, revision, "SHA256SUMS"));
    const [, section = ""] = (await inRoot("contract/CONTRACT-CHANGELOG.md")).split(`\n## ${revision}\n`);
    const sentence = `The sum of its SHA256SUMS is\n\`${sha256(sums)}\`.`;
    expect(section.split("\n## ")[0]).toContain(sentence);
  });

  test.each([...new Set([...kept, own])])(
    "%s is what its sums say, and has no file without one",
    async (revision) => {
      const sums = await readFile(path.join(revisions, revision, "SHA256SUMS"), "utf8");
      const lines = sums.trimEnd().split("\n");
      for (const line of lines) {
        const [sum, name = ""] = line.split("  ");
        expect([name, sha256(await readFile(path.join(revisions, revision, name)))]).toEqual([name, sum]);
      }
      const entries = await readdir(path.join(revisions, revision), { recursive: true, withFileTypes: true });
      expect(entries.filter((entry) => entry.isFile())).toHaveLength(lines.length + 1);
    },
  );

  test("every file of the contract's own revision names it", async () => {
    const read = (name: string) => readFile(path.join(revisions, own, name), "utf8");
    const forms = ["", "-client"].flatMap((form) => [".yaml", ".json", "-3.0.json"].map((end) => form + end));
    const overlays = ["fern", "speakeasy"].map((name) => `overlays/${name}.yaml`);
    for (const name of [...forms.map((form) => `openapi${form}`), ...overlays])
      expect([name, parse(await read(name)).info["x-contract-revision"]]).toEqual([name, own]);
    for (const name of ["retries", "errors", "operations", "parameters"]) {
      const data = JSON.parse(await read(`conformance/${name}.json`));
      const schema = JSON.parse(await read(`conformance/${name}.schema.json`));
      expect(data["x-contract-revision"]).toBe(own);
      expect(schema.$id).toBe(`urn:tunerank:contract:${own}:conformance:${name}`);
    }
  });
});

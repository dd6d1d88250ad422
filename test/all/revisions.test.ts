import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeRevision } from "../../scripts/build/contract.js";
import { contract } from "../support/contract.js";
import { root } from "../support/project.js";

const kept = path.join(root, "contract/revisions");
const own = contract.info["x-contract-revision"];
// As the build writes it, beside those that are kept.
const folder = await mkdtemp(path.join(tmpdir(), "revisions-"));
await cp(kept, folder, { recursive: true });
await writeRevision(root, folder);
const revisions = await readdir(folder);
afterAll(() => rm(folder, { recursive: true }));

test("the revision of the last release is kept, and one that is not released is not", async () => {
  const baseline = parse(await readFile(path.join(root, "contract/baseline/openapi.yaml"), "utf8"));
  const released = baseline.info["x-contract-revision"];
  expect(await readdir(kept)).toContain(released);
  expect((await readdir(kept)).includes(own)).toBe(own === released);
});

const changelog = await readFile(path.join(root, "contract/CONTRACT-CHANGELOG.md"), "utf8");

test.each(await readdir(kept))(
  "revision %s is final: its sums are those that its changelog has",
  async (revision) => {
    const sums = await readFile(path.join(kept, revision, "SHA256SUMS"));
    const [, section = ""] = changelog.split(`\n## ${revision}\n`);
    expect(section.split("\n## ")[0]).toContain(
      `The sum of its SHA256SUMS is\n\`${createHash("sha256").update(sums).digest("hex")}\`.`,
    );
  },
);

test("a revision that is not kept is called a draft, and the package names the one that it carries", async () => {
  const isFinal = (await readdir(kept)).includes(own);
  const isDraft = changelog.includes(`\n## ${own}\n\nA draft: no released package carries it yet.\n`);
  expect({ isFinal, isDraft }).toEqual({ isFinal, isDraft: !isFinal });
  const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  expect(manifest["x-contract-revision"]).toBe(own);
});

describe.each(revisions)("revision %s", (revision) => {
  test("is what its sums say, and has no file without one", async () => {
    const sums = await readFile(path.join(folder, revision, "SHA256SUMS"), "utf8");
    const lines = sums
      .trimEnd()
      .split("\n")
      .map((line) => line.split("  ") as [string, string]);
    for (const [sum, name] of lines) {
      const bytes = await readFile(path.join(folder, revision, name));
      expect({ name, sum: createHash("sha256").update(bytes).digest("hex") }).toEqual({ name, sum });
    }
    const entries = await readdir(path.join(folder, revision), { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).toHaveLength(lines.length + 1);
  });
});

test("every file of the contract's own revision names it", async () => {
  const names = [
    "openapi.yaml",
    "openapi.json",
    "openapi-3.0.json",
    "openapi-client.yaml",
    "overlays/fern.yaml",
  ];
  for (const name of [
    ...names,
    "openapi-client.json",
    "openapi-client-3.0.json",
    "overlays/speakeasy.yaml",
  ]) {
    const { info } = parse(await readFile(path.join(folder, own, name), "utf8"));
    expect({ name, revision: info["x-contract-revision"] }).toEqual({ name, revision: own });
  }
  for (const name of ["retries", "errors", "operations", "parameters"]) {
    const read = async (file: string) =>
      JSON.parse(await readFile(path.join(folder, own, "conformance", file), "utf8"));
    const [data, schema] = await Promise.all([read(`${name}.json`), read(`${name}.schema.json`)]);
    expect(data["x-contract-revision"]).toBe(own);
    expect(schema.$id).toBe(`urn:tunerank:contract:${own}:conformance:${name}`);
    const validate = new Ajv2020({ strict: false }).compile(schema);
    validate(data);
    expect(validate.errors).toBeNull();
  }
});

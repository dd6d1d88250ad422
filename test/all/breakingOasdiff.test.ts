import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { breakingChanges } from "../support/breakingChanges.js";
import { clientFormChanges } from "../support/clientFormChanges.js";
import type { Part } from "../support/contractParts.js";
import { harmlessChanges } from "../support/harmlessChanges.js";
import { root, run, temporaryFolder } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

const places = [...(process.env.PATH ?? "").split(path.delimiter), path.join(homedir(), "go", "bin")];
const oasdiff = places.map((place) => path.join(place, "oasdiff")).find((file) => existsSync(file));
if (oasdiff === undefined) {
  console.warn(
    "SKIPPED: no second opinion on breaking changes. go install github.com/oasdiff/oasdiff@v1.32.0",
  );
}

const strict = JSON.stringify(parse(readFileSync(path.join(root, "openapi.yaml"), "utf8")));
const clients = (await publishContract()).text("openapi-client-3.0.json");
const { folder, remove } = await temporaryFolder();
afterAll(remove);

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
  test.each(breakingChanges)("$name", async ({ change, oasdiff: differing = "breaks" }) => {
    expect(await opinionOn(strict, change)).toBe(differing);
  });

  test.each(harmlessChanges)("$name", async ({ change, oasdiff: differing }) => {
    expect((await opinionOn(strict, change)) === "breaks").toBe(differing === "breaks");
  });

  test.each(clientFormChanges)(
    "the form for clients in OpenAPI 3.0: $name",
    async ({ change, oasdiff: differing = "breaks" }) => {
      expect(await opinionOn(clients, change)).toBe(differing);
    },
  );
});

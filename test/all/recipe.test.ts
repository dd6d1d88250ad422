// CONTRIBUTING.md's "Add an operation", followed to the letter in a copy of the project.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { unreleased } from "../support/contract.js";
import { copyRepository, type Outcome, root, run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

vi.setConfig({ testTimeout: 20 * 60_000, hookTimeout: 5 * 60_000 });

const server = useRecordingServer();
const text = await readFile(path.join(root, "CONTRIBUTING.md"), "utf8");
const copy = await temporaryFolder();
afterAll(() => copy.remove());

const inCopy = (command: string, ...args: readonly string[]): Promise<Outcome> =>
  run(command, args, { cwd: copy.folder, env: { URL: server.url } });

async function succeeds(...args: Parameters<typeof inCopy>): Promise<string> {
  const { exitCode, stdout, stderr } = await inCopy(...args);
  expect(exitCode, stdout + stderr).toBe(0);
  return stdout;
}

beforeAll(async () => {
  await copyRepository(copy.folder);
  const [, section = ""] = text.split("## Add an operation\n");
  // The blocks of the list, each at the depth of openapi.yaml.
  const blocks = (section.split("\n## ")[0] ?? "").matchAll(/^ {3}```yaml\n(.*?)^ {3}```$/gms);
  const [operation = "", schema = "", ...others] = [...blocks].map(([, lines = ""]) => lines);
  expect(others).toEqual([]);
  const contract = await readFile(path.join(copy.folder, "openapi.yaml"), "utf8");
  const changed = contract
    .replace(/^paths:\n/m, (line) => line + operation.replaceAll(/^ {3}(?=.)/gm, "  "))
    .replace(/^ {2}schemas:\n/m, (line) => line + schema.replaceAll(/^ {3}(?=.)/gm, "    "));
  await writeFile(path.join(copy.folder, "openapi.yaml"), unreleased(changed));
  await succeeds("npm", "run", "generate");
});

test("leaves format, types and the contract's rules green, and nothing stale", async () => {
  await succeeds("npm", "run", "lint");
  await succeeds("npm", "run", "generate", "--", "--check");
});

test("makes the method", async () => {
  server.reply({ json: { name: "accounts/acme/datasets/reviews" } });
  const script = `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL, apiKey: "k", accountId: "acme" });
    console.log(JSON.stringify(await client.datasets.get("reviews")));
  `;
  const node = ["--conditions=tunerank-source", "--import", "tsx", "--input-type=module", "--eval", script];
  expect(await succeeds(process.execPath, ...node)).toBe('{"name":"accounts/acme/datasets/reviews"}\n');
  expect(server.only).toMatchObject({ method: "GET", url: "/v1/accounts/acme/datasets/reviews" });
});

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

async function runSuite(...files: readonly string[]): Promise<Report["testResults"]> {
  const report = path.join(copy.folder, "report.json");
  await inCopy("npm", "test", "--", ...files, "--no-cache", "--reporter=json", `--outputFile=${report}`);
  return (JSON.parse(await readFile(report, "utf8")) as Report).testResults;
}

const testsOf = (results: Report["testResults"]) =>
  results.flatMap(({ assertionResults }) => assertionResults);

test("fails the tests that are the service's facts, as their names say, and no other", async () => {
  const testResults = await runSuite();
  const all = await readdir(path.join(copy.folder, "test"), { recursive: true });
  expect(testResults).toHaveLength(all.filter((name) => /^(?!all\/).*\.test\.ts$/.test(name)).length);
  const tests = testsOf(testResults);
  const isFact = ({ fullName }: { fullName: string }) => fullName.includes("the service's facts: ");
  const failed = tests.filter(({ status }) => status === "failed");
  const facts = failed.filter(isFact);
  expect(facts).toEqual(tests.filter(isFact));
  expect(facts).not.toEqual([]);
  // The suite runs beside another here. What failed for want of time does not fail alone; what the recipe breaks does.
  const odd = testResults.filter(({ assertionResults }) =>
    assertionResults.some((each) => each.status === "failed" && !isFact(each)),
  );
  const again = odd.length === 0 ? [] : testsOf(await runSuite(...odd.map(({ name }) => name)));
  expect(again.filter((each) => each.status === "failed" && !isFact(each))).toEqual([]);
  // A file that fails without a test of its own could not be run.
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((each) => each.status !== "failed"),
  );
  expect(broken).toEqual([]);
});

test("stands in a page of fewer than 1,500 words", () => {
  expect(text.trim().split(/\s+/).length).toBeLessThan(1500);
});

import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyProject, type Outcome, root, run, temporaryFolder } from "./support/project.js";
import { useRecordingServer } from "./support/recordingServer.js";
import { runScript } from "./support/script.js";

let copy: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  copy = await temporaryFolder();
  await copyProject(copy.folder);
});
afterAll(() => copy.remove());

const server = useRecordingServer();

function generate(folder: string, ...args: string[]): Promise<Outcome> {
  return run(process.execPath, ["--import", "tsx", "scripts/generate/run.ts", ...args], { cwd: folder });
}

async function changeContract(from: string, to: string): Promise<void> {
  const contract = path.join(copy.folder, "openapi.yaml");
  const text = await readFile(contract, "utf8");
  expect(text).toContain(from);
  await writeFile(contract, text.replace(from, to));
}

test("the generated files are what the contract says now", { timeout: 30_000 }, async () => {
  const { exitCode, stdout, stderr } = await generate(root, "--check");
  expect({ exitCode, stdout, stderr }).toMatchObject({
    exitCode: 0,
    stdout: "src/generated is up to date.\n",
  });
});

test("a changed contract makes the check fail, and it names the command to run", {
  timeout: 30_000,
}, async () => {
  await changeContract("NOT_FOUND: 404", "NOT_FOUND: 410");
  await appendFile(path.join(copy.folder, "src/generated/version.ts"), "// changed by hand\n");
  const { exitCode, stderr } = await generate(copy.folder, "--check");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("src/generated/contract.ts");
  expect(stderr).toContain("src/generated/version.ts");
  expect(stderr).not.toContain("src/generated/types.ts");
  expect(stderr).toContain("npm run generate");
});

// What CONTRIBUTING.md tells as the example of a change.
test("a new optional boolean of a rerank is typed, checked and sent once the contract has it", {
  timeout: 60_000,
}, async () => {
  const task = "          example: Find the help article that answers the customer's question.\n";
  const field =
    "        new_flag:\n          type: boolean\n          description: Whether long documents are cut.\n";
  await changeContract(task, task + field);
  expect(await generate(copy.folder)).toMatchObject({ exitCode: 0, stderr: "" });
  const types = await readFile(path.join(copy.folder, "src/generated/types.ts"), "utf8");
  expect(types).toContain("/** Whether long documents are cut. */\n    new_flag?: boolean | undefined;");

  const script = `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL, maxRetries: 0 });
    const { message } = await client.rerank({ query: "q", documents: ["d"], new_flag: "yes" }).catch((e) => e);
    console.log(message);
    await client.rerank({ query: "q", documents: ["d"], new_flag: true });
    await client.rerank.items("q", ["d"], { text: String, new_flag: false });
  `;
  server.reply({ json: { data: [] } });
  expect(await runScript(script, { URL: server.url }, { cwd: copy.folder })).toEqual({
    exitCode: 0,
    stdout: "[INVALID_ARGUMENT] new_flag must be true or false when given.\n",
    stderr: "",
  });
  expect(server.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { query: "q", documents: ["d"], new_flag: true },
    { query: "q", documents: ["d"], new_flag: false, return_documents: false },
  ]);
});

test("a rule of a request that nothing would check is refused, and it says what to do", {
  timeout: 30_000,
}, async () => {
  await changeContract(
    "minimum: 1\n          example: 3\n",
    "minimum: 1\n          maximum: 100\n          example: 3\n",
  );
  const { exitCode, stderr } = await generate(copy.folder);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "rerankDocuments.top_n has the rule maximum, which nothing checks: teach it to src/options/validate.ts",
  );
});

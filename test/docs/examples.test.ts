import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestService, type TestServer, type TestService } from "../../src/testing/index.js";
import { root } from "../support/project.js";
import { runFile } from "../support/script.js";

const folder = path.join(root, "examples");
const service: TestService = createTestService();
let server: TestServer;

beforeAll(async () => {
  server = await service.listen();
});
afterAll(() => server.close());

// What each prints, and the requests it makes of the service it is given.
const expected: Readonly<Record<string, readonly [printed: RegExp, requests: readonly string[]]>> = {
  rerank: [/^\d\.\d{3} If you forgot your password.*\n\d\.\d{3} .*\n$/, ["rerank"]],
  rerankItems: [/^\d\.\d{3} 23 Passwords\n$/, ["rerank"]],
  resume: [/^accounts\/acme\/reinforcementFineTuningJobs\/answer-quality JOB_STATE_RUNNING\n$/, ["resume"]],
  scale: [/^prod is scaling to zero\n$/, ["scale"]],
  testing: [/^three requests, one answer\n$/, []],
  upload: [/8044 of 8044 bytes\nfile-\S+ train\.jsonl 8044\n$/, ["upload"]],
};

test("every example is run", async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".ts"));
  const names = files.map((file) => path.parse(file).name);
  expect(names.sort()).toEqual(Object.keys(expected).sort());
  for (const file of files) {
    const lines = (await readFile(path.join(folder, file), "utf8")).trimEnd().split("\n");
    expect(lines.length, file).toBeLessThanOrEqual(15);
  }
});

test.each(Object.entries(expected))("%s does what it says", async (name, [printed, operations]) => {
  service.reset();
  const { exitCode, stdout, stderr } = await runFile(path.join(folder, `${name}.ts`), {
    TUNERANK_BASE_URL: server.url,
    TUNERANK_API_KEY: "any",
    TUNERANK_ACCOUNT_ID: "acme",
  });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(printed);
  expect(service.requests.map(({ operation }) => operation)).toEqual(operations);
});

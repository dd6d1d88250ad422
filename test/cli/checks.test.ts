// `tunerank check` and `tunerank conformance`: their exit codes are what a script reads.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { tunerank } from "../support/commandLine.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { next, post, startRunner } from "../support/conformance/runner.js";
import { temporaryFolder } from "../support/project.js";

test("check ends with 0 for valid files, and with 2 if one is invalid, and names its line", async () => {
  const { folder, remove } = await temporaryFolder();
  const [good, bad] = ["good.jsonl", "bad.jsonl"].map((name) => path.join(folder, name)) as [string, string];
  await writeFile(good, '{"a": 1}\r\n{"a": 2}');
  await writeFile(bad, '{"a": 1}\n{"a": 2,}\n');
  const valid = await tunerank(["check", good]);
  expect([valid.exitCode, valid.stdout]).toEqual([0, `${good}: 2 rows.\n`]);
  const invalid = await tunerank(["check", bad, good]);
  expect(invalid.exitCode).toBe(2);
  expect(invalid.stdout).toMatch(/bad\.jsonl: 2 rows\.\n {2}Invalid: line 2: .*\n.*good\.jsonl: 2 rows\.\n$/);
  await remove();
});

test("conformance ends with 0 if every test case passed, and with 1 if one failed", async () => {
  const only = ["--only", "success-at-once/rerank"];
  const good = await startRunner(...only);
  await certifyOwnClient(good.url);
  expect((await good.outcome).exitCode).toBe(0);
  expect(await good.report()).toMatchObject({ passed: 1, failed: 0, revision: expect.stringMatching(/^\d/) });
  const broken = await startRunner(...only, "--only", "success-at-once/scale");
  const { id } = await next(broken.url);
  await post(broken.url, { id, value: {}, attempts: 1 });
  await certifyOwnClient(broken.url);
  expect((await broken.outcome).exitCode).toBe(1);
  expect(await broken.report()).toMatchObject({ passed: 1, failed: 1 });
});

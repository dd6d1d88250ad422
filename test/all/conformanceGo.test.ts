// The client on net/http, written from contract/conformance/README.md; where there is no Go, it is skipped.
import { execFile, execFileSync } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startRunner } from "../support/conformance/runner.js";
import { root } from "../support/project.js";

const run = promisify(execFile);

test.skipIf(!hasGo())("the Go client passes every row but those of a 101", { timeout: 600_000 }, async () => {
  const { url, report } = await startRunner();
  await run("go", ["run", ".", url], { cwd: path.join(root, "contract/conformance/go") });
  const { rows, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  const lacking = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
  expect(lacking).toEqual(["status-101"]);
});

function hasGo(): boolean {
  try {
    execFileSync("go", ["version"]);
    return true;
  } catch {
    console.log("The Go client is skipped: there is no go here.");
    return false;
  }
}

import { describe, expect, test } from "vitest";
import { leaksOf, takeLeaks } from "../support/canary.js";
import { run } from "../support/project.js";

test("the demo prints nothing of its key", async () => {
  const flags = ["--conditions=tunerank-source", "--import", "tsx"];
  const outcome = await run(process.execPath, [...flags, "scripts/demo/run.ts"]);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
  expect(outcome.stdout).toContain("[NOT_FOUND]");
  expect(leaksOf(outcome, "demo-key")).toEqual([]);
});

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

async function runLeaking(way: string, ...args: string[]) {
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/leaking/vitest.config.ts"];
  const outcome = await run(process.execPath, [...vitest, ...args], { env: { LEAK: way } });
  takeLeaks();
  return outcome;
}

describe("a run of the suite", () => {
  test("fails with every test that prints the key", async () => {
    const { exitCode, stdout } = await runLeaking("output", "--reporter=json");
    expect(exitCode).toBe(1);
    const { testResults } = JSON.parse(stdout.slice(stdout.search(/^\{"num/m))) as Report;
    const results = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status !== "skipped"),
    );
    expect(results).toHaveLength(5);
    expect(results.filter(({ status }) => status !== "failed")).toEqual([]);
  });

  test("fails with a file whose error outside of its tests holds the key", async () => {
    const { exitCode, stderr } = await runLeaking("beforeAll");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The key was shown:\na StatusError, plain: inspect");
  });

  test("fails with a rejection that nobody handles, an exception under this flag", async () => {
    expect(process.execArgv).toContain("--unhandled-rejections=strict");
    const { exitCode, stdout, stderr } = await runLeaking("rejection");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("1 passed");
    expect(stderr).toContain("Uncaught Exception");
    expect(stderr).toContain("nobody handles this");
  });
});

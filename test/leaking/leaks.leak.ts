// One way to leak for each value of LEAK: each run of this file fails (test/all/securityCanaryRuns.test.ts).
import { inspect } from "node:util";
import { beforeAll, describe, test } from "vitest";
import { StatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { run } from "../support/project.js";

describe.runIf(process.env.LEAK === "output")("output", () => {
  test("console.log", () => console.log("key", canaryKey));
  test("console.error", () => console.error(inspect({ key: canaryKey })));
  test("process.stdout", () => void process.stdout.write(`${encodeURIComponent(canaryKey)}\n`));
  test("process.stderr", () => void process.stderr.write(Buffer.from(`${btoa(canaryKey)}\n`)));
  test("a process of its own", async () => {
    const code = "process.stderr.write(process.env.KEY)";
    await run(process.execPath, ["-e", code], { env: { KEY: canaryKey } });
  });
});

describe.runIf(process.env.LEAK === "beforeAll")("an error outside of the tests", () => {
  const details = { code: "UNKNOWN", executed: "no", codeSource: "client" } as const;
  beforeAll(() => void new StatusError(`Wrong key ${canaryKey}.`, details));
  test("passes", () => {});
});

describe.runIf(process.env.LEAK === "rejection")("a rejection", () => {
  test("passes", () => void Promise.reject(new Error("nobody handles this")));
});

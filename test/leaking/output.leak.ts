import { inspect } from "node:util";
import { test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { run } from "../support/project.js";

test("console.log", () => console.log("key", canaryKey));
test("console.error", () => console.error(inspect({ key: canaryKey })));
test("process.stdout", () => void process.stdout.write(`${encodeURIComponent(canaryKey)}\n`));
test("process.stderr", () => void process.stderr.write(Buffer.from(`${btoa(canaryKey)}\n`)));
test("a process of its own", async () => {
  const code = "process.stderr.write(process.env.KEY)";
  await run(process.execPath, ["-e", code], { env: { KEY: canaryKey } });
});

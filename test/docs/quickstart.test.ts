import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createTestService } from "../../src/testing/index.js";
import { root } from "../support/project.js";
import { runScript } from "../support/script.js";

const folder = path.join(root, "docs/snippets");

test("the first program of the quickstart prints what the page says, against the stand-in", async () => {
  const server = await createTestService().listen();
  try {
    const program = await readFile(path.join(folder, "first.mjs"), "utf8");
    const script = program
      .replace('"tunerank"', '"./src/index.ts"')
      .replace("http://127.0.0.1:4010", server.url);
    const { stdout } = await runScript(script, {});
    await expect(stdout).toMatchFileSnapshot(path.join(folder, "first.out.txt"));
  } finally {
    await server.close();
  }
});

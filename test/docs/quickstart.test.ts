import { expect, test } from "vitest";
import { blockOf } from "../../docs/build/blocks.js";
import { createTestService } from "../../src/testing/index.js";
import { runScript } from "../support/script.js";

test("the first program of the quickstart prints what the page says, against the stand-in", async () => {
  const server = await createTestService().listen();
  try {
    const script = blockOf("guide/quickstart.md", "first.mjs")
      .text.replace('"tunerank"', '"./src/index.ts"')
      .replace("http://127.0.0.1:4010", server.url);
    const { stdout } = await runScript(script, {});
    expect(stdout).toBe(blockOf("guide/quickstart.md", "runFirst.sh").prints?.text);
  } finally {
    await server.close();
  }
});

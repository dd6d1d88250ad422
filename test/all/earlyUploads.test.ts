import { describe, expect, test } from "vitest";
import { runScript } from "../support/script.js";

const newer = process.env.TUNERANK_TEST_NEWER_NODE;
const nodes = [process.execPath, ...(newer ? newer.split(",") : [])];
const times = 10 * Number(process.env.TUNERANK_RUNS ?? 1);

describe.each(nodes)("%s", (node) => {
  test("a server that responds to uploads before it has read them, and closes, ends no process", async () => {
    const script = `
      import { manners, uploadEarly } from "./test/support/earlyUploads.ts";
      const both = [true, false];
      const wrong = [];
      for (const manner of Object.keys(manners)) for (const secure of both) for (const own of both)
        for (const keepAlive of both) {
          const setting = { secure, own, keepAlive, manner };
          const outcomes = await uploadEarly(setting, ${times});
          if (outcomes.length > 0) wrong.push({ ...setting, outcomes });
        }
      console.log(JSON.stringify(wrong));
    `;
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
    const { exitCode, stdout, stderr } = await runScript(script, env, { node });
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: "[]\n" });
  });
});

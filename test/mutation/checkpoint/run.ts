// npm run mutate -- --checkpoint: takes one rule of the checkpoint away at a time, in a copy of the project, and expects
// that its test fails. Texts behind it choose rules that contain one of them.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { copyRepository, temporaryFolder } from "../../support/project.js";
import { brokenRules } from "./rules.js";

/** Runs the rules that contain one of the texts, or all. @returns How many broken rules no test noticed */
export async function mutateCheckpoint(only: readonly string[]): Promise<number> {
  const { folder, remove } = await temporaryFolder();
  let survivors = 0;
  try {
    await copyRepository(folder);
    for (const { rule, file, from, to, test } of brokenRules) {
      if (only.length > 0 && !only.some((text) => rule.includes(text))) continue;
      const source = path.join(folder, "src/cli", file);
      const text = readFileSync(source, "utf8");
      if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
      writeFileSync(
        source,
        text.replace(from, () => to),
      );
      const [testFile, name] = test;
      const pattern = name.replace(/[()[\]]/g, "\\$&");
      const args = ["vitest", "run", "--config", "test/all/vitest.config.ts", "--typecheck.enabled=false"];
      const { stdout } = spawnSync(
        "npx",
        [...args, `test/${testFile}`, "-t", pattern, "--testTimeout", "60000"],
        {
          cwd: folder,
          encoding: "utf8",
        },
      );
      writeFileSync(source, text);
      const isKilled = /Tests .*\d+ failed/.test(stdout);
      if (!isKilled) survivors += 1;
      console.log(`${isKilled ? "killed  " : "SURVIVED"} ${rule} (${name})`);
    }
  } finally {
    await remove();
  }
  return survivors;
}

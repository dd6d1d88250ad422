import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";

let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

// Where a shell is missing, nobody needs its completion.
const missing = (shell: string) => spawnSync(shell, ["--version"]).error !== undefined;

describe("completion", () => {
  const completed: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["tunerank sc", ["scale"]],
    ["tunerank upload --na", ["--name"]],
    ["tunerank rerank --top", ["--top-n"]],
    ["tunerank rerank --max-b", ["--max-batch-bytes"]],
    ["tunerank rerank --total", ["--total-timeout"]],
    ["tunerank upload --total", []],
    ["tunerank scale --batch", []],
    ["tunerank request sc", ["scaleDeployment"]],
    ["tunerank request --par", ["--param"]],
  ];

  test.skipIf(missing("bash")).each([...completed, ["tunerank completion f", ["fish"]] as const])(
    "bash completes %j",
    async (line, expected) => {
      const file = path.join(folder, "completion.bash");
      await writeFile(file, (await tunerank(["completion", "bash"])).stdout);
      const parts = line.split(" ");
      const script = `. '${file}'; COMP_WORDS=(${parts.join(" ")}); COMP_CWORD=${parts.length - 1}; _tunerank; echo "\${COMPREPLY[*]}"`;
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
      expect([stdout.trim().split(" ").filter(Boolean), stderr]).toEqual([expected, ""]);
    },
  );

  test.skipIf(missing("fish")).each(completed)("fish completes %j", async (line, expected) => {
    const file = path.join(folder, "completion.fish");
    await writeFile(file, (await tunerank(["completion", "fish"])).stdout);
    const script = `source '${file}'; complete -C '${line}'`;
    const { stdout, stderr } = spawnSync("fish", ["-c", script], { encoding: "utf8" });
    // Each is followed by a tab and its description.
    const words = stdout.split("\n").flatMap((row) => row.split("\t")[0] || []);
    expect([words, stderr]).toEqual([expected, ""]);
  });

  test.each(["zsh", "fish"].filter((shell) => !missing(shell)))("%s takes the script", async (shell) => {
    const file = path.join(folder, `completion.${shell}`);
    await writeFile(file, (await tunerank(["completion", shell])).stdout);
    // A file: fish reads a pipe before it is written, and then says that it cannot.
    const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});

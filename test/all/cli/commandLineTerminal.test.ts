import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onTerminal, tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

// util-linux's `script` gives a real terminal; other systems' take other arguments.
const hasTerminal = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");
if (!hasTerminal)
  console.warn("SKIPPED: util-linux's script is not here, so nothing is shown on a terminal.");

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const control = "\u001b[";
const withoutColours = (text: string) =>
  text.replaceAll(new RegExp(`${control.replace("[", "\\[")}\\d+m`, "g"), "");

async function rank(run: typeof onTerminal, args: string[] = [], env = {}): Promise<string> {
  const file = path.join(folder, "documents.txt");
  await writeFile(file, `first\n${"a very long second line ".repeat(20)}\n`);
  server.reply({
    json: {
      data: [
        { index: 1, relevance_score: 0.5 },
        { index: 0, relevance_score: 0.25 },
      ],
    },
  });
  const { exitCode, stdout } = await run(["rerank", "--query", "q", file, ...args], {
    baseUrl: server.url,
    env,
  });
  expect(exitCode).toBe(0);
  return stdout;
}

describe.skipIf(!hasTerminal)("on a terminal", () => {
  test("scores are bars, the best one whole, and long lines are cut to its width", async () => {
    const shown = await rank(onTerminal);
    const [best = "", second = ""] = withoutColours(shown).split("\r\n");
    expect(best).toMatch(/^████████████ 0\.500 {2}a very long .*…$/);
    expect([...best]).toHaveLength(80);
    expect(second).toBe("██████░░░░░░ 0.250  first");
    expect(shown).toContain(`${control}36m`);
  });

  test.each([
    ["NO_COLOR", [], { NO_COLOR: "1" }],
    ["--no-color", ["--no-color"], {}],
    ["TERM=dumb", [], { TERM: "dumb" }],
  ])("there are no colours with %s", async (_, args, env) => {
    expect(await rank(onTerminal, args, env)).not.toContain(control);
  });

  test("an upload has a bar with its rate, and leaves only its result", async () => {
    const file = path.join(folder, "train.jsonl");
    await writeFile(file, Buffer.alloc(8 * 1024 * 1024));
    server.reply({ json: { id: "file-1", bytes: 8_388_608, filename: "train.jsonl" } });
    const { exitCode, stdout } = await onTerminal(["upload", "reviews", file, "--no-check"], {
      baseUrl: server.url,
    });
    expect(exitCode).toBe(0);
    const drawn = withoutColours(stdout).split(`\r${control}K`);
    expect(drawn.at(-2)).toMatch(/^█+ 100 % {2}8\.4 MB of 8\.4 MB {2}\d+\.\d MB\/s$/);
    expect(drawn.at(-1)).toBe("Uploaded train.jsonl: 8388608 bytes, file file-1.\r\n");
    for (const line of drawn.slice(1, -1)) expect([...line].length).toBeLessThan(80);
  });

  test("a failure is red, and machines get none of it", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone." } });
    const shown = await onTerminal(["resume", "job-1"], { baseUrl: server.url });
    expect(shown.exitCode).toBe(4);
    expect(shown.stdout).toContain(`${control}31mtunerank:${control}39m [NOT_FOUND] Gone.`);
    const machine = await onTerminal(["resume", "job-1", "--json"], { baseUrl: server.url });
    expect(JSON.parse(machine.stdout)).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

test("elsewhere there is no control sequence", async () => {
  expect(await rank(tunerank)).toMatch(/^0\.500\t2\ta very long .*\n0\.250\t1\tfirst\n$/);
});

// Where a shell is missing, nobody needs its completion.
const missing = (shell: string) => spawnSync(shell, ["--version"]).error !== undefined;

describe("completion", () => {
  const completed: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["tunerank sc", ["scale"]],
    ["tunerank upload --na", ["--name"]],
    ["tunerank rerank --top", ["--top-n"]],
    ["tunerank rerank --total", []],
    ["tunerank bulk --total", ["--total-timeout"]],
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

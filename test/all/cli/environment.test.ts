import { spawnSync } from "node:child_process";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { manPage } from "../../../scripts/build/commandTexts.js";
import { exitCodeOf } from "../../../src/cli/exitCodes.js";
import { environmentRows } from "../../../src/cli/help.js";
import { operationOfCommand } from "../../../src/cli/options.js";
import { type Command, commands, shells } from "../../../src/cli/program.js";
import { requests } from "../../../src/generated/contract.js";
import { descriptions } from "../../../src/generated/descriptions.js";
import { canaryKey } from "../../support/canary.js";
import { onTerminal, tunerank, useCommand } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const { run, at, written } = useCommand(server);
const unset = { TUNERANK_BASE_URL: undefined, TUNERANK_API_KEY: undefined, TUNERANK_ACCOUNT_ID: "" };

test("what the environment lacks is named at once, with the options that take its place", async () => {
  const { exitCode, stderr } = await run(["scale", "prod", "2"], { env: unset });
  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    "tunerank: Not set: TUNERANK_BASE_URL (--base-url URL), TUNERANK_API_KEY (--api-key-file FILE), TUNERANK_ACCOUNT_ID (--account ID). Set the variable or the option, or name a file of variables with --env-file FILE.\nRun `tunerank scale --help` for help.\n",
  );
  const other = await run(["rerank", "--query", "q", "--base-url", server.url, "README.md"], { env: unset });
  expect(other.stderr).toContain("Not set: TUNERANK_API_KEY (--api-key-file FILE). Set the variable");
});

test("--env-file gives the variables that are not set, as node's own option reads them", async () => {
  const lines = [
    "# Of the mock server",
    `export TUNERANK_BASE_URL='${server.url}'`,
    `TUNERANK_API_KEY='${canaryKey}' # the key`,
    "TUNERANK_ACCOUNT_ID=of-the-file",
  ];
  const args = ["scale", "prod", "0", "--env-file", await written(".env", lines.join("\n"))];
  const { exitCode, stderr } = await run(args, { env: unset });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(server.only.url).toBe("/v1/accounts/of-the-file/deployments/prod:scale");
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  // An option goes before both.
  expect((await run([...args, "--account", "mine"])).exitCode).toBe(0);
  expect(server.requests.at(-1)?.url).toBe("/v1/accounts/mine/deployments/prod:scale");
});

test("an --env-file that cannot be read ends the command before anything is sent", async () => {
  const { exitCode, stderr } = await run(["scale", "prod", "0", "--env-file", at("none")]);
  // Node 20 reads this option itself, wherever it stands, and ends with a code and a message of its own.
  const isReadByNode = process.versions.node.startsWith("20.");
  expect(exitCode).toBe(isReadByNode ? 9 : 2);
  expect(stderr).toContain(isReadByNode ? "none: not found" : "--env-file cannot be read: ENOENT");
  expect(server.requests).toEqual([]);
});

test("--debug logs each attempt to stderr, without the key; a dry run makes none", async () => {
  server.reply({ json: {} });
  const { exitCode, stderr } = await run(["scale", "prod", "0", "--debug"]);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^tunerank scaleDeployment PATCH .* attempt=1 status=200 .* host=127\.0\.0\.1/);
  const dry = ["scale", "prod", "0", "--dry-run"];
  expect(await run([...dry, "--debug"])).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await run(dry, { env: { TUNERANK_LOG: "debug" } })).toMatchObject({ exitCode: 0, stderr: "" });
});

test.each([
  ["nothing", {}, false],
  ["FORCE_COLOR", { FORCE_COLOR: "1" }, true],
  ["an empty FORCE_COLOR", { FORCE_COLOR: "" }, false],
])("a failure that goes into a pipe is red with %s: %j %s", async (_, env, isRed) => {
  const { stderr } = await run(["scale", "prod", "x"], { env });
  expect(stderr.includes("\u001b[31m")).toBe(isRed);
});

// util-linux's `script` gives a real terminal; other systems' take other arguments.
const hasTerminal = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");
if (!hasTerminal)
  console.warn("SKIPPED: util-linux's script is not here, so nothing is shown on a terminal.");

describe.skipIf(!hasTerminal)("on a terminal", () => {
  const erased = "\r\u001b[K";
  const colour = new RegExp(`${erased[1]}\\[\\d+m`, "g");
  const withoutColours = (text: string) => text.replaceAll(colour, "");
  const shownWith = (args: readonly string[], more = {}) =>
    onTerminal(args, { baseUrl: server.url, ...more });

  test.each<[name: string, env: Record<string, string>, args: string[], isRed: boolean]>([
    ["an empty NO_COLOR", { NO_COLOR: "" }, [], true],
    ["NO_COLOR", { NO_COLOR: "1" }, [], false],
    ["NO_COLOR and FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, [], true],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }, [], false],
    ["FORCE_COLOR=false", { FORCE_COLOR: "false" }, [], false],
    ["TERM=dumb", { TERM: "dumb" }, [], false],
    ["--no-color and FORCE_COLOR", { FORCE_COLOR: "1" }, ["--no-color"], false],
  ])("a failure with %s is red or not: %j %j %s", async (_, env, args, isRed) => {
    const { stdout } = await shownWith(["scale", "prod", "x", ...args], { env });
    expect(stdout).toContain("REPLICAS must be a whole number");
    expect(stdout.includes("\u001b[31mtunerank:\u001b[39m")).toBe(isRed);
  });

  test.each([
    ["a terminal", {}, true],
    ["TERM=dumb", { TERM: "dumb" }, false],
    ["CI", { CI: "true" }, false],
    ["CI=false", { CI: "false" }, true],
  ])("the progress of an upload is drawn on %s: %j %s", async (_, env, isDrawn) => {
    const file = await written("some.bin", Buffer.alloc(8 * 1024 * 1024, "x"));
    server.reply({ json: { id: "file-1", bytes: 8_388_608 } });
    const { stdout } = await shownWith(["upload", "reviews", file], { env });
    const drawn = withoutColours(stdout).split(erased);
    expect(drawn.at(-1)).toContain("Uploaded some.bin: 8388608 bytes, file file-1.\r\n");
    expect(drawn.length > 1).toBe(isDrawn);
    if (isDrawn) expect(drawn.at(-2)).toMatch(/^█+ 100 % {2}8\.4 MB of 8\.4 MB {2}\d+\.\d MB\/s$/);
    for (const line of drawn.slice(1, -1)) expect([...line].length).toBeLessThan(80);
  });

  test.each([
    ["n", 130],
    ["y", 0],
  ])("before scaling to zero a person is asked: %s ends with %i", async (input, exit) => {
    const { exitCode, stdout } = await shownWith(["scale", "prod", "0"], { input: `${input}\n` });
    expect(stdout).toContain("Scale deployment prod to zero replicas? [y/N]");
    expect(stdout.includes("Nothing was sent.")).toBe(exit > 0);
    expect([exitCode, server.requests.length]).toEqual([exit, exit > 0 ? 0 : 1]);
  });

  test.each([
    ["--yes", ["prod", "0", "--yes"], {}],
    ["--json", ["prod", "0", "--json"], {}],
    ["-q", ["prod", "0", "-q"], {}],
    ["CI", ["prod", "0"], { CI: "1" }],
    ["another number", ["prod", "1"], {}],
  ])("with %s nobody is asked before a scale", async (_, args, env) => {
    const { exitCode, stdout } = await shownWith(["scale", ...args], { env, input: "" });
    expect([exitCode, stdout.includes("?")]).toEqual([0, false]);
    expect(server.only.method).toBe("PATCH");
  });
});

// Where a shell is missing, nobody needs its completion.
const missing = (shell: string) => spawnSync(shell, ["--version"]).error !== undefined;

describe("completion", () => {
  const scriptOf = async (shell: string): Promise<string> =>
    written(`completion.${shell}`, (await run(["completion", shell])).stdout);
  const completed: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["tunerank sc", ["scale"]],
    ["tunerank upload --na", ["--name"]],
    ["tunerank rerank --top", ["--top-n"]],
    ["tunerank rerank --total", []],
    ["tunerank bulk --total", ["--total-timeout"]],
    ["tunerank scale --batch", []],
    ["tunerank request sc", ["scaleDeployment"]],
    ["tunerank request --par", ["--param"]],
  ];

  test.skipIf(missing("bash"))("bash completes commands, options and first words", async () => {
    const file = await scriptOf("bash");
    for (const [line, expected] of [...completed, ["tunerank completion f", ["fish"]] as const]) {
      const words = line.split(" ");
      const script = `. '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _tunerank; echo "\${COMPREPLY[*]}"`;
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
      expect([line, stdout.trim().split(" ").filter(Boolean), stderr]).toEqual([line, expected, ""]);
    }
  });

  test.skipIf(missing("fish"))("fish completes the same", async () => {
    const file = await scriptOf("fish");
    for (const [line, expected] of completed) {
      const script = `source '${file}'; complete -C '${line}'`;
      const { stdout, stderr } = spawnSync("fish", ["-c", script], { encoding: "utf8" });
      // Each is followed by a tab and its description.
      const words = stdout.split("\n").flatMap((row) => row.split("\t")[0] || []);
      expect([line, words, stderr]).toEqual([line, expected, ""]);
    }
  });

  test.each(["zsh", "fish"].filter((shell) => !missing(shell)))("%s takes the script", async (shell) => {
    // A file: fish reads a pipe before it is written, and then says that it cannot.
    const { status, stderr } = spawnSync(shell, ["-n", await scriptOf(shell)], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});

test("a file that cannot be read is named, and a key in its place is not", async () => {
  const none = path.win32.join("C:\\data", "none.txt");
  for (const [file, shown] of [
    [none, none],
    [`${canaryKey}.txt`, "[redacted].txt"],
  ] as const)
    expect((await run(["rerank", "--query", "q", file])).stderr).toContain(
      `FILE "${shown}" cannot be read: ENOENT: no such file or directory.`,
    );
  expect(server.requests).toEqual([]);
});

describe("the help", () => {
  const optionsOf = ({ options }: Command): string[] => options.map(({ long }) => long);
  const words = (text: string) => text.replace(/\s+/g, " ");

  test("the help lists every command, exit code and variable, however it is asked for", async () => {
    const { exitCode, stdout } = await tunerank([]);
    expect(exitCode).toBe(0);
    for (const args of [["--help"], ["-h"], ["help"]]) expect((await tunerank(args)).stdout).toBe(stdout);
    for (const command of commands) {
      // One example for each.
      expect(stdout.split(`\n  ${command.examples[0]?.[0]}\n`)).toHaveLength(2);
      expect(stdout).toMatch(new RegExp(`^  ${command.name}\\b.*  ${command.summary}$`, "m"));
    }
    for (const [code, exit] of Object.entries(exitCodeOf))
      expect(stdout).toMatch(new RegExp(`^  (?:\\d+, )*${exit}[ ,].*\\b${code}\\b`, "m"));
    for (const [names] of environmentRows) expect(stdout).toContain(`\n  ${names}`);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^Guides: .*docs/);
    expect(stdout.split("\n").every((line) => line.length <= 110)).toBe(true);
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    "the help of %s has each option, the contract's words and examples",
    async (name, command) => {
      const [{ exitCode, stdout }, again] = await Promise.all([
        tunerank([name, "--help"]),
        tunerank(["help", name]),
      ]);
      expect([exitCode, again.stdout]).toEqual([0, stdout]);
      for (const option of optionsOf(command)) expect(stdout).toContain(option);
      const operation = name === "bulk" ? undefined : operationOfCommand[name as "rerank"];
      if (operation !== undefined) expect(words(stdout)).toContain(descriptions[operation].description);
      expect(stdout).toMatch(/^Usage: tunerank /);
      for (const argument of command.arguments) expect(stdout.split("\n")[0]).toContain(argument.name);
      expect(command.examples.length).toBeGreaterThan(0);
      const own = command.options.filter(({ group }) => group === "Options");
      expect(own.length).toBeLessThanOrEqual(20);
      for (const [line, text] of command.examples) expect(stdout).toContain(`  # ${text}\n  ${line}`);
    },
  );

  test.each(shells)("the completion for %s names every command and option", async (shell) => {
    const { stdout } = await tunerank(["completion", shell]);
    for (const command of commands) {
      expect(stdout).toContain(command.name);
      for (const option of optionsOf(command)) expect(stdout).toContain(option.slice(2));
    }
  });

  test("the man page has each command, option, variable and exit code", async () => {
    const page = gunzipSync(manPage()).toString().replaceAll("\\-", "-");
    for (const command of commands) {
      expect(page).toContain(`\n.SS tunerank ${command.name} `);
      for (const option of optionsOf(command)) expect(page).toContain(option);
    }
    for (const [names] of environmentRows) expect(page).toContain(`\n.B ${names}\n`);
    for (const exit of Object.values(exitCodeOf)) expect(page).toMatch(new RegExp(`\n\\.B .*\\b${exit}\\b`));
    // No line may begin with what man takes for a request of its own.
    const requests = new Set(page.match(/^[.'][^\s]*/gm));
    expect([...requests].sort()).toEqual([".B", ".EE", ".EX", ".I", ".PP", ".SH", ".SS", ".TH", ".TP"]);
  });

  test("the command line has an option for each field of a rerank but the file's and one that it sets itself", () => {
    const options = commands.find((command) => command.name === "rerank")?.options.map(({ long }) => long);
    const fields = Object.keys(requests.rerankDocuments.body.properties);
    const others = fields.filter((field) => !options?.includes(`--${field.replace("_", "-")}`));
    expect(others, "a new field needs an option in src/cli/options.ts").toEqual([
      "documents",
      "return_documents",
    ]);
  });
});

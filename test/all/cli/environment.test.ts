import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environmentRows } from "../../../src/cli/help.js";
import { canaryKey } from "../../support/canary.js";
import { onTerminal, tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const unset = { TUNERANK_BASE_URL: "", TUNERANK_API_KEY: undefined, TUNERANK_ACCOUNT_ID: "" };

describe("what the environment lacks", () => {
  test("is named at once, with the options that take its place", async () => {
    const { exitCode, stderr } = await tunerank(["scale", "prod", "2"], { env: unset });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "tunerank: Not set: TUNERANK_BASE_URL (--base-url URL), TUNERANK_API_KEY (--api-key-file FILE), TUNERANK_ACCOUNT_ID (--account ID). Set the variable or the option, or name a file of variables with --env-file FILE.\nRun `tunerank scale --help` for help.\n",
    );
  });

  test("is only what the operation needs and no option gives", async () => {
    const args = ["rerank", "--query", "q", "--base-url", server.url, "README.md"];
    const { stderr } = await tunerank(args, { env: unset });
    expect(stderr).toContain("Not set: TUNERANK_API_KEY (--api-key-file FILE). Set the variable");
  });
});

describe("--env-file", () => {
  const env = { ...unset, TUNERANK_LOG: undefined };
  const fileOf = async (...lines: string[]): Promise<string> => {
    const file = path.join(folder, ".env");
    await writeFile(file, lines.join("\n"));
    return file;
  };

  test("gives the variables, as node's own option reads them", async () => {
    const file = await fileOf(
      "# Of the mock server",
      `export TUNERANK_BASE_URL='${server.url}'`,
      `TUNERANK_API_KEY='${canaryKey}' # the key`,
      "TUNERANK_ACCOUNT_ID=of-the-file",
    );
    const { exitCode, stderr } = await tunerank(["scale", "prod", "0", "--env-file", file], { env });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(server.only.url).toBe("/v1/accounts/of-the-file/deployments/prod:scale");
    expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  });

  test("leaves what is set as it is, and an option goes before both", async () => {
    const file = await fileOf(
      `TUNERANK_BASE_URL=${server.url}`,
      "TUNERANK_API_KEY=other",
      "TUNERANK_ACCOUNT_ID=other",
    );
    const args = ["scale", "prod", "0", "--account", "mine", "--env-file", file];
    expect((await tunerank(args, { env: { TUNERANK_BASE_URL: undefined } })).exitCode).toBe(0);
    expect(server.only.url).toBe("/v1/accounts/mine/deployments/prod:scale");
    expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  });

  test("that cannot be read ends the command before anything is sent", async () => {
    const args = ["scale", "prod", "0", "--env-file", path.join(folder, "none")];
    const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url });
    // Node 20 reads this option itself, wherever it stands, and ends with a code and a message of its own.
    const isReadByNode = process.versions.node.startsWith("20.");
    expect(exitCode).toBe(isReadByNode ? 9 : 2);
    expect(stderr).toContain(isReadByNode ? "none: not found" : "--env-file cannot be read: ENOENT");
    expect(server.requests).toEqual([]);
  });
});

test("--debug logs each attempt to stderr, without the key", async () => {
  server.reply({ json: {} });
  const { exitCode, stderr } = await tunerank(["scale", "prod", "0", "--debug"], { baseUrl: server.url });
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^tunerank scaleDeployment PATCH .* attempt=1 status=200 .* host=127\.0\.0\.1/);
});

test.each([
  [["--debug"], {}],
  [[], { TUNERANK_LOG: "debug" }],
])("a dry run logs no attempt, because it makes none: %j %j", async (more, env) => {
  const args = ["scale", "prod", "0", "--dry-run", ...more];
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, env });
  expect([exitCode, stderr]).toEqual([0, ""]);
});

describe("colours", () => {
  const red = "\u001b[31m";
  const colours: readonly (readonly [name: string, env: Record<string, string>, args: string[], boolean])[] =
    [
      ["an empty NO_COLOR", { NO_COLOR: "" }, [], true],
      ["NO_COLOR", { NO_COLOR: "1" }, [], false],
      ["NO_COLOR and FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, [], true],
      ["FORCE_COLOR=0", { FORCE_COLOR: "0" }, [], false],
      ["FORCE_COLOR=false", { FORCE_COLOR: "false" }, [], false],
      ["TERM=dumb", { TERM: "dumb" }, [], false],
      ["--no-color and FORCE_COLOR", { FORCE_COLOR: "1" }, ["--no-color"], false],
    ];
  test.each(colours)("on a terminal with %s", async (_, env, args, isRed) => {
    const { stdout } = await onTerminal(["scale", "prod", "x", ...args], { baseUrl: server.url, env });
    expect(stdout).toContain("REPLICAS must be a whole number");
    expect(stdout.includes(red)).toBe(isRed);
  });

  test.each([
    ["nothing", {}, false],
    ["FORCE_COLOR", { FORCE_COLOR: "1" }, true],
    ["an empty FORCE_COLOR", { FORCE_COLOR: "" }, false],
  ])("into a pipe with %s", async (_, env, isRed) => {
    const { stderr } = await tunerank(["scale", "prod", "x"], { baseUrl: server.url, env });
    expect(stderr.includes(red)).toBe(isRed);
  });
});

const erased = "\r\u001b[K";
test.each([
  ["a terminal", {}, true],
  ["TERM=dumb", { TERM: "dumb" }, false],
  ["CI", { CI: "true" }, false],
  ["CI=false", { CI: "false" }, true],
])("the progress of an upload is drawn on %s: %j %s", async (_, env, isDrawn) => {
  const file = path.join(folder, "some.bin");
  await writeFile(file, Buffer.alloc(400_000, "x"));
  server.reply({ json: { id: "file-1", bytes: 400_000 } });
  const { stdout } = await onTerminal(["upload", "reviews", file], { baseUrl: server.url, env });
  expect(stdout).toContain("400000 bytes, file file-1");
  expect(stdout.includes(erased)).toBe(isDrawn);
});

test("the help has every variable, and ends with where the guides are", async () => {
  const { stdout } = await tunerank(["--help"]);
  for (const [names] of environmentRows) expect(stdout).toContain(`\n  ${names}`);
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^Guides: .*docs/);
});

describe("before scaling to zero on a terminal", () => {
  const scaled = async (args: string[], response: string, env = {}) => {
    const line = ["scale", ...args];
    return onTerminal(line, { baseUrl: server.url, env, input: response });
  };

  test("a person is asked, and what is not a yes sends nothing", async () => {
    const { exitCode, stdout } = await scaled(["prod", "0"], "n\n");
    expect(stdout).toContain("Scale deployment prod to zero replicas? [y/N]");
    expect(stdout).toContain("Nothing was sent.");
    expect([exitCode, server.requests]).toEqual([130, []]);
  });

  test("a yes scales", async () => {
    const { exitCode } = await scaled(["prod", "0"], "y\n");
    expect(exitCode).toBe(0);
    expect(JSON.parse(`${server.only.body}`)).toEqual({ replicaCount: 0 });
  });

  test.each([
    ["--yes", ["prod", "0", "--yes"], {}],
    ["--json", ["prod", "0", "--json"], {}],
    ["-q", ["prod", "0", "-q"], {}],
    ["CI", ["prod", "0"], { CI: "1" }],
    ["another number", ["prod", "1"], {}],
  ])("with %s nobody is asked", async (_, args, env) => {
    const { exitCode, stdout } = await scaled(args, "", env);
    expect([exitCode, stdout.includes("?")]).toEqual([0, false]);
    expect(server.only.method).toBe("PATCH");
  });
});

test("-q prints nothing of what went well and has no result", async () => {
  const { exitCode, stdout, stderr } = await tunerank(["scale", "prod", "2", "-q"], { baseUrl: server.url });
  expect([exitCode, stdout, stderr]).toEqual([0, "", ""]);
});

describe("a time", () => {
  test.each(["1", "1s", "1000ms"])("may have a unit: %s", async (time) => {
    server.reply(() => undefined);
    const { exitCode, stderr } = await tunerank(["scale", "prod", "2", "--timeout", time, "--json"], {
      baseUrl: server.url,
    });
    expect(exitCode).toBe(9);
    expect(JSON.parse(stderr).error.message).toContain("1000 ms");
  });
});

test.each([["version"], ["--version"], ["-v"]])("%s prints the version", async (word) => {
  const { exitCode, stdout } = await tunerank([word]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("a file that cannot be read is named, and a key in its place is not", async () => {
  const run = (file: string) => tunerank(["rerank", "--query", "q", file], { baseUrl: server.url });
  expect((await run("C:\\data\\none.txt")).stderr).toContain(
    'FILE "C:\\data\\none.txt" cannot be read: ENOENT: no such file or directory.',
  );
  const { stderr } = await run(`${canaryKey}.txt`);
  expect(stderr).toContain('FILE "[redacted].txt" cannot be read: ENOENT');
  expect(server.requests).toEqual([]);
});

import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { manPage } from "../../../scripts/build/commandTexts.js";
import { exitCodeOf } from "../../../src/cli/exitCodes.js";
import { environmentRows } from "../../../src/cli/help.js";
import { operationOfCommand } from "../../../src/cli/options.js";
import { type Command, commands, shells } from "../../../src/cli/program.js";
import { requests } from "../../../src/generated/contract.js";
import { descriptions } from "../../../src/generated/descriptions.js";
import { tunerank } from "../../support/commandLine.js";

const optionsOf = ({ options }: Command): string[] => options.map(({ long }) => long);
const words = (text: string) => text.replace(/\s+/g, " ");

test.each([[], ["--help"], ["-h"], ["help"]])(
  "the help lists every command and exit code: %j",
  async (...args) => {
    const { exitCode, stdout } = await tunerank(args.flat());
    expect(exitCode).toBe(0);
    for (const command of commands) {
      // One example for each.
      expect(stdout.split(`\n  ${command.examples[0]?.[0]}\n`)).toHaveLength(2);
      expect(stdout).toMatch(new RegExp(`^  ${command.name}\\b.*  ${command.summary}$`, "m"));
    }
    for (const [code, exit] of Object.entries(exitCodeOf)) {
      expect(stdout).toMatch(new RegExp(`^  (?:\\d+, )*${exit}[ ,].*\\b${code}\\b`, "m"));
    }
    expect(stdout.split("\n").every((line) => line.length <= 110)).toBe(true);
  },
);

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

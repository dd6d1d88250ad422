import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { manPage } from "../../../scripts/build/manPage.js";
import { exitCodeOf } from "../../../src/cli/exitCodes.js";
import { environmentRows, helpExamples } from "../../../src/cli/help.js";
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
      expect(stdout.split(`\n  ${helpExamples[command.name]?.[0]?.[0]}\n`)).toHaveLength(2);
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
    expect(helpExamples[name]?.length).toBeGreaterThan(0);
    const own = command.options.filter(({ group }) => group === "Options");
    expect(own.length).toBeLessThanOrEqual(20);
    for (const [line, text] of helpExamples[name] ?? []) expect(stdout).toContain(`  # ${text}\n  ${line}`);
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

// Where the command line takes each field of a rerank from.
const places: Readonly<Record<string, string>> = {
  query: "--query",
  documents: "[FILE]",
  model: "--model",
  top_n: "--top-n",
  return_documents: "nowhere: the command has the documents",
  task: "--task",
};

test("the command line has an option for each field of a rerank, or a reason for none", () => {
  const { properties } = requests.rerankDocuments.body;
  expect(
    Object.keys(properties).sort(),
    "a new field: give it an option in src/cli/program.ts and src/cli/rerankCommand.ts, or say here why it has none",
  ).toEqual(Object.keys(places).sort());
  const options = commands.find((command) => command.name === "rerank")?.options;
  const named = Object.values(places).filter((place) => place.startsWith("--"));
  expect(options?.map(({ long }) => long)).toEqual(expect.arrayContaining(named));
});

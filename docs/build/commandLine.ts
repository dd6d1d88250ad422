import { exitCodeRows } from "../../src/cli/exitCodes.js";
import type { CommandOption } from "../../src/cli/options.js";
import { type Command, commands } from "../../src/cli/program.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

// What several commands have is told once.
const shared = ["The service", "Output"];

/** The commands and the exit codes of `tunerank`, as tables. */
export function commandLineParts(): Page[] {
  const rows = commands.map(({ name, usage, summary }) => [
    code(`tunerank ${name} ${usage}`),
    prose(sentence(summary)),
  ]);
  const exits = exitCodeRows((name) => `[${code(name)}](/codes/${name}.md)`).map(([exit, meaning]) => [
    String(exit),
    meaning,
  ]);
  return [
    { path: "parts/commands.md", text: table(["Command", "What it does"], rows) },
    { path: "parts/exit-codes.md", text: table(["Exit code", "Meaning"], exits) },
  ];
}

/** A folded table of the arguments and options of each command, and of those that they share. */
export function commandOptionsPart(): Page {
  const sharers = (title: string) =>
    commands.filter(({ options }) => options.some(({ group }) => group === title));
  const parts = [...commands.map(commandTable), ...shared.map((group) => sharedTable(group, sharers(group)))];
  return { path: "parts/command-options.md", text: parts.join("\n") };
}

function commandTable(command: Command): string {
  const { name, options } = command;
  const own = options.filter(({ group }) => !shared.includes(group));
  const rows = [...command.arguments.map(argumentRow), ...own.map(optionRow)];
  const groups = shared.filter((title) => options.some(({ group }) => group === title));
  const others = `It also has the options for ${groups.map((group) => group.toLowerCase()).join(" and for ")}, below.`;
  const usage = code(`tunerank ${name} ${command.usage}`);
  const rest = rows.length === 0 ? "" : `${table(["Option", "Meaning"], rows)}\n\n`;
  return folded(`tunerank ${name}`, `${usage}\n\n${rest}${others}`);
}

function sharedTable(group: string, commands: readonly Command[]): string {
  const options = commands[0]?.options.filter((each) => each.group === group) ?? [];
  const names = commands.map(({ name }) => code(name)).join(", ");
  const rows = options.map(optionRow);
  return folded(group, `For ${names}.\n\n${table(["Option", "Meaning"], rows)}`);
}

function folded(title: string, text: string): string {
  return `::: details ${title}\n${text}\n:::\n`;
}

function argumentRow({ name, isRequired, description }: Command["arguments"][number]): string[] {
  return [`${code(name)}${isRequired ? " (required)" : ""}`, prose(description)];
}

function optionRow({ flags, description }: CommandOption): string[] {
  return [nameOf(flags), prose(description)];
}

function nameOf(flags: string): string {
  return code(flags.replaceAll(/[<>]/g, ""));
}

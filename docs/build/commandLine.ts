import type { Argument, Command, Option } from "commander";
import { exitCodeRows } from "../../src/cli/exitCodes.js";
import { createProgram } from "../../src/cli/program.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

// What several commands have is told once.
const shared = ["The service:", "Output:"];

/** The commands and the exit codes of `tunerank`, as tables. */
export function commandLineParts(): Page[] {
  const rows = createProgram().commands.map((command) => [
    code(`tunerank ${command.name()} ${command.usage()}`),
    prose(sentence(command.summary())),
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
  const { commands } = createProgram();
  const sharers = (group: string) =>
    commands.filter(({ options }) => options.some(({ helpGroupHeading }) => helpGroupHeading === group));
  const parts = [...commands.map(commandTable), ...shared.map((group) => sharedTable(group, sharers(group)))];
  return { path: "parts/command-options.md", text: parts.join("\n") };
}

function commandTable(command: Command): string {
  const own = command.options.filter(({ helpGroupHeading = "" }) => !shared.includes(helpGroupHeading));
  const rows = [...command.registeredArguments.map(argumentRow), ...own.map(optionRow)];
  const groups = shared.filter((group) => command.options.some((each) => each.helpGroupHeading === group));
  const others = `It also has the options for ${groups.map((group) => titleOf(group).toLowerCase()).join(" and for ")}, below.`;
  const usage = code(`tunerank ${command.name()} ${command.usage()}`);
  const rest = rows.length === 0 ? "" : `${table(["Option", "Meaning"], rows)}\n\n`;
  return folded(`tunerank ${command.name()}`, `${usage}\n\n${rest}${others}`);
}

function sharedTable(group: string, commands: readonly Command[]): string {
  const options = commands[0]?.options.filter((each) => each.helpGroupHeading === group) ?? [];
  const names = commands.map((command) => code(command.name())).join(", ");
  const rows = options.map(({ flags }) => [nameOf(flags), prose(sharedMeaning(flags, commands))]);
  return folded(titleOf(group), `For ${names}.\n\n${table(["Option", "Meaning"], rows)}`);
}

// The meaning of an option of several commands, sentence by sentence: one that differs names its commands.
function sharedMeaning(flags: string, commands: readonly Command[]): string {
  const all = commands.flatMap((command) => {
    const { description } = command.options.find((each) => each.flags === flags) ?? {};
    return description === undefined
      ? []
      : { name: command.name(), sentences: description.split(/(?<=\.) /) };
  });
  const [first] = all;
  const meant = first?.sentences.map((_, at) => {
    const names = new Map<string, string[]>();
    for (const { name, sentences } of all)
      names.set(`${sentences[at]}`, [...(names.get(`${sentences[at]}`) ?? []), name]);
    const own = [...names].map(([text, having]) => {
      const of = having.join(", ");
      return text.startsWith("Default: ") ? text.replace(":", ` for ${of}:`) : `For ${of}: ${text}`;
    });
    return names.size === 1 ? [...names.keys()].join() : own.join(" ");
  });
  const having = all.length < commands.length ? `For ${all.map(({ name }) => name).join(", ")}: ` : "";
  return `${having}${meant?.join(" ") ?? ""}`;
}

function folded(title: string, text: string): string {
  return `::: details ${title}\n${text}\n:::\n`;
}

function titleOf(group: string): string {
  return group.replace(/:$/, "");
}

function argumentRow(argument: Argument): string[] {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? "..." : ""}`;
  return [`${code(name)}${argument.required ? " (required)" : ""}`, prose(argument.description)];
}

function optionRow({ flags, description }: Option): string[] {
  return [nameOf(flags), prose(description)];
}

function nameOf(flags: string): string {
  return code(flags.replaceAll(/[<>]/g, ""));
}

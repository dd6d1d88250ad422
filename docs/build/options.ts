import { readFile } from "node:fs/promises";
import ts from "typescript";
import { exitCodeRows } from "../../src/cli/exitCodes.js";
import type { CommandOption } from "../../src/cli/options.js";
import { type Command, commands } from "../../src/cli/program.js";
import { callOptionTable, clientOptionTable } from "../../src/options/table.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

interface Documented {
  readonly meaning: string;
  readonly initial: string;
}

/** Every option of a client and of a call, with the first sentence of its docstring and its default. */
export async function optionsPart(): Promise<Page> {
  const texts = { ...(await documented("CallOptions")), ...(await documented("ClientOptions")) };
  const inCalls = Object.keys(callOptionTable);
  const clientOnly = Object.keys(clientOptionTable).filter((name) => !inCalls.includes(name));
  const parts = [
    ["Options of `createClient` alone:", clientOnly],
    ["Options of `createClient` and of each call (`signal` and `idempotent` only of a call):", inCalls],
  ] as const;
  const tables = parts.map(([title, names]) => `${title}\n\n${tableOf(names, texts)}`);
  return { path: "parts/options.md", text: tables.join("\n\n") };
}

function tableOf(names: readonly string[], texts: Readonly<Record<string, Documented>>): string {
  const rows = names.map((name) => {
    const found = texts[name];
    if (found === undefined) throw new Error(`src/options/types.ts does not describe ${name}.`);
    return [code(name), prose(found.meaning), prose(found.initial)];
  });
  return table(["Option", "Meaning", "Default"], rows);
}

/** What the docstrings of an interface in src/options/types.ts say of its members. */
async function documented(name: string): Promise<Record<string, Documented>> {
  const file = new URL("../../src/options/types.ts", import.meta.url);
  const source = ts.createSourceFile("types.ts", await readFile(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found = source.statements.find(
    (node): node is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(node) && node.name.text === name,
  );
  const members = found?.members ?? [];
  return Object.fromEntries(members.map((member) => [member.name?.getText(source) ?? "", saidOf(member)]));
}

function saidOf(member: ts.Node): Documented {
  const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const initial = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === "default");
  const text = textOf(doc);
  const where = / Node only\.$/.exec(text)?.[0] ?? "";
  return { meaning: firstSentence(text) + where, initial: textOf(initial).replaceAll(/TUNERANK_\w+/g, code) };
}

const textOf = (node: ts.JSDoc | ts.JSDocTag | undefined): string =>
  (ts.getTextOfJSDocComment(node?.comment) ?? "").replaceAll(/\s+/g, " ").trim();

const firstSentence = (text: string): string => /^.*?[.!?](?= [A-Z]|$)/.exec(text)?.[0] ?? text;

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

import { exitCodeRows } from "../../src/cli/exitCodes.js";
import { createProgram } from "../../src/cli/program.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

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

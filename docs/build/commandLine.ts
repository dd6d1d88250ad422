import { exitCodeOf, exitCodeOfSignal, exitCodes } from "../../src/cli/exitCodes.js";
import { createProgram } from "../../src/cli/program.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

/** The commands and the exit codes of `tunerank`, as tables. */
export function commandLineParts(): Page[] {
  const rows = createProgram().commands.map((command) => [
    code(`tunerank ${command.name()} ${command.usage()}`),
    prose(sentence(command.summary())),
  ]);
  const failures = [...new Set(Object.values(exitCodeOf))].map((exit) => {
    const names = Object.entries(exitCodeOf).filter(([, each]) => each === exit);
    return [String(exit), names.map(([name]) => `[${code(name)}](/codes/${name}.md)`).join(", ")];
  });
  const own = [
    [String(exitCodes.success), "success"],
    [String(exitCodes.fault), "an error in this program, or a problem with a file"],
    [String(exitCodes.usage), "the command line is wrong; nothing was sent"],
  ];
  const signals = [
    [String(exitCodeOfSignal.SIGHUP), "ended by SIGHUP"],
    [String(exitCodeOfSignal.SIGTERM), "ended by SIGTERM"],
  ];
  return [
    { path: "parts/commands.md", text: table(["Command", "What it does"], rows) },
    { path: "parts/exit-codes.md", text: table(["Exit code", "Meaning"], [...own, ...failures, ...signals]) },
  ];
}

import type { Command } from "commander";
import { examples } from "./examples.js";
import { exitCodeRows } from "./exitCodes.js";
import { isOperation, linesOf } from "./operations.js";
import type { Terminal } from "./terminal.js";

const widest = 100;

/** Sets how a program shows its help, and that it never ends the process. */
export function setUpHelp(program: Command, terminal: Terminal): void {
  const title = (text: string) => terminal.style("bold", text);
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureHelp({
        styleTitle: title,
        helpWidth: Math.max(60, Math.min(widest, terminal.columns || widest)),
      })
      .configureOutput({
        writeOut: (text) => terminal.print(text.trimEnd()),
        writeErr: () => {},
        // The terminal's own styles know whether there are colours.
        getOutHasColors: () => true,
      });
    const lines = (examples[command.name()] ?? []).flatMap(([line, text]) => [
      `  ${terminal.style("dim", `# ${text}`)}`,
      `  ${line}`,
    ]);
    command.addHelpText("before", () => aboutOperation(command, title));
    if (lines.length > 0) command.addHelpText("after", `\n${[title("Examples:"), ...lines].join("\n")}`);
  }
  program.addHelpText("after", `\n${[title("Exit codes:"), ...exitCodeLines()].join("\n")}`);
}

// `tunerank request ID --help` begins with the operation.
function aboutOperation({ args }: Command, title: (text: string) => string): string {
  const [id = ""] = args;
  return isOperation(id) ? `${linesOf(id, title).join("\n")}\n` : "";
}

function exitCodeLines(): string[] {
  return exitCodeRows((name) => name).map(([code, meaning]) => `  ${`${code}`.padEnd(5)}${meaning}`);
}

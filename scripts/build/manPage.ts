// The man page of the command, from the declarations that its help is made of.
import { gzipSync } from "node:zlib";
import type { Command, Option } from "commander";
import { environmentRows } from "../../src/cli/environment.js";
import { exitCodeRows } from "../../src/cli/exitCodes.js";
import { helpExamples } from "../../src/cli/help.js";
import { createProgram } from "../../src/cli/program.js";
import { version } from "../../src/generated/version.js";

/** The man page in the language of man(7), gzipped, as man reads it too. */
export function manPage(): Buffer {
  return gzipSync(`${lines().join("\n")}\n`, { level: 9 });
}

function lines(): string[] {
  const program = createProgram();
  return [
    `.TH TUNERANK 1 "" "tunerank ${version}"`,
    ".SH NAME",
    `tunerank \\- ${plain(program.description().replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    ".B tunerank",
    "COMMAND [OPTIONS]",
    ".SH COMMANDS",
    ...program.commands.flatMap(commandLines),
    ".SH ENVIRONMENT",
    ...environmentRows.flatMap(([names, meaning]) => tagged(`.B ${plain(names)}`, meaning)),
    ".SH EXIT STATUS",
    ...exitCodeRows((name) => name).flatMap(([code, meaning]) => tagged(`.B ${code}`, meaning)),
  ];
}

function commandLines(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command);
  const examples = helpExamples[command.name()] ?? [];
  return [
    `.SS tunerank ${plain(`${command.name()} ${command.usage()}`)}`,
    plain(command.description()),
    ...command.registeredArguments.flatMap((argument) =>
      tagged(`.I ${plain(argument.name())}`, argument.description),
    ),
    ...options.flatMap((option: Option) => tagged(`.B ${plain(option.flags)}`, option.description)),
    ...examples.flatMap(([line, text]) => [
      ".PP",
      `${plain(text)}:`,
      ".PP",
      ".EX",
      `    ${plain(line)}`,
      ".EE",
    ]),
  ];
}

function tagged(tag: string, text: string): string[] {
  return [".TP", tag, plain(text)];
}

// A backslash begins an escape, a dash may become a hyphen, and a dot or quote at the start of a line a request.
function plain(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^[.']/gm, "\\&$&");
}

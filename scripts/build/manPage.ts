// The man page of the command, from the declarations that its help is made of.
import { gzipSync } from "node:zlib";
import { exitCodeRows } from "../../src/cli/exitCodes.js";
import { about, environmentRows } from "../../src/cli/help.js";
import { type Command, commands } from "../../src/cli/program.js";
import { version } from "../../src/generated/version.js";

/** The man page in the language of man(7), gzipped, as man reads it too. */
export function manPage(): Buffer {
  return gzipSync(`${lines().join("\n")}\n`, { level: 9 });
}

function lines(): string[] {
  return [
    `.TH TUNERANK 1 "" "tunerank ${version}"`,
    ".SH NAME",
    `tunerank \\- ${plain(about.replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    ".B tunerank",
    "COMMAND [OPTIONS]",
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH ENVIRONMENT",
    ...environmentRows.flatMap(([names, meaning]) => tagged(`.B ${plain(names)}`, meaning)),
    ".SH EXIT STATUS",
    ...exitCodeRows((name) => name).flatMap(([code, meaning]) => tagged(`.B ${code}`, meaning)),
  ];
}

function commandLines({ name, usage, description, arguments: all, options, examples }: Command): string[] {
  return [
    `.SS tunerank ${plain(`${name} ${usage}`)}`,
    plain(description),
    ...all.flatMap((argument) => tagged(`.I ${plain(argument.name)}`, argument.description)),
    ...options.flatMap((option) => tagged(`.B ${plain(option.flags)}`, option.description)),
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
